import { spawn } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Container, Probe } from './running-pod.ts';

export interface ProbeTarget {
  podAddress: string;
  /** Process of the container, for commands. */
  pid: number;
}

/** Runs a probe once. Every failure is a `false`. */
export async function runProbe(probe: Probe, container: Container, target: ProbeTarget): Promise<boolean> {
  const signal = AbortSignal.timeout((probe.timeoutSeconds ?? 1) * 1000);
  const { httpGet, tcpSocket, exec } = probe;
  if (httpGet) {
    const status = await httpStatus(httpGet, portNumber(httpGet.port, container), target.podAddress, signal);
    return status !== undefined && status >= 200 && status < 400;
  }
  if (tcpSocket) {
    return await tcpAnswers(tcpSocket.host ?? target.podAddress, portNumber(tcpSocket.port, container), signal);
  }
  if (exec) return await commandSucceeds(exec.command ?? [], target.pid, signal);
  return true;
}

/** A port may be given by the name it has in the container. */
export function portNumber(port: number | string, { ports = [] }: Container): number {
  return typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? Number(port));
}

function httpStatus(
  { path = '/', host, scheme, httpHeaders = [] }: NonNullable<Probe['httpGet']>,
  port: number,
  podAddress: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const send = scheme === 'HTTPS' ? httpsRequest : httpRequest;
    const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
    const options = { host: host ?? podAddress, port, path, headers, signal, agent: false };
    // A kubelet does not ask who signed the certificate either.
    const outgoing = send({ ...options, rejectUnauthorized: false }, (response) => {
      response.on('error', () => {});
      response.resume();
      resolve(response.statusCode);
    });
    outgoing.on('error', () => resolve(undefined));
    outgoing.end();
  });
}

function tcpAnswers(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
    signal.addEventListener('abort', () => settle(false), { once: true });
  });
}

function commandSucceeds(command: readonly string[], pid: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const args = [`--target=${pid}`, '--mount', '--net', '--root', '--wd', '--', ...command];
    const child = spawn('nsenter', args, { stdio: 'ignore', signal, killSignal: 'SIGKILL' });
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
  });
}
