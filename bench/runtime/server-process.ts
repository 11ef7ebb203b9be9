import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createCertificateAuthority } from '../../tools/reference-cluster/certificates.ts';
import { type EventType, type ServerCall, type SteadyResult, templateEvents } from './neutral-server.ts';
import type { BenchKind } from './templates.ts';

/** The neutral server in a process of its own. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #port = 0;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  /** @param peer the Go peer, which knows how Pods look in protobuf */
  static async start(peer: string): Promise<ServerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
    const authority = await createCertificateAuthority('slipway-bench');
    await writeFile(join(folder, 'ca.crt'), authority.certificate);
    const serving = await authority.issue({ commonName: 'localhost', ipAddresses: ['127.0.0.1'] });
    const frames = await Promise.all(
      templateEvents('pod').map(async ([type, event]) => [type, await protobufFrame(peer, event)] as const),
    );
    const child = fork(join(import.meta.dirname, 'neutral-server.ts'), { serialization: 'json' });
    const server = new ServerProcess(child, folder);
    const podFrames = Object.fromEntries(frames) as Record<EventType, string>;
    server.#port = (await server.#call({
      call: 'setup',
      setup: { certificate: serving.certificate, key: serving.key, podFrames },
    })) as number;
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get caFile(): string {
    return join(this.#folder, 'ca.crt');
  }

  async load(kind: BenchKind, count: number): Promise<void> {
    await this.#call({ call: 'load', kind, count });
  }

  async burst(events: number): Promise<void> {
    await this.#call({ call: 'burst', events });
  }

  async steady(events: number, perSecond: number, write: boolean): Promise<SteadyResult> {
    return (await this.#call({ call: 'steady', events, perSecond, write })) as SteadyResult;
  }

  async #call(call: ServerCall): Promise<unknown> {
    this.#child.send(call);
    const [answer] = (await once(this.#child, 'message')) as [{ result?: unknown; error?: string }];
    if (answer.error !== undefined) throw new Error(`the neutral server: ${answer.error}`);
    return answer.result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Base64 of the event as a protobuf watch carries it. */
function protobufFrame(peer: string, event: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(peer, ['-encode'], { encoding: 'buffer', maxBuffer: 1e7 }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout.toString('base64'));
    });
    child.stdin!.end(event);
  });
}
