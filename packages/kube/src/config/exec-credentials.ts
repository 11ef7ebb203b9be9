import { spawn } from 'node:child_process';
import { isAbsolute, join } from 'node:path';

import type { Clock } from '../clock.ts';
import type { Credential, Credentials } from '../connection.ts';
import { timeLimit } from '../time-limit.ts';
import { isObject, type EntryReader } from './kubeconfig-document.ts';

const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

export interface ExecOptions {
  clock: Clock;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether a person sits at the terminal and may be asked for a password. */
  interactive: boolean;
  /** How long the command may run, in milliseconds. */
  timeoutMs: number;
}

interface Plugin {
  apiVersion: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  installHint: string | undefined;
  useTerminal: boolean;
  cluster: Readonly<Record<string, unknown>> | undefined;
  reader: EntryReader;
}

/** Credentials from a command (`users[].user.exec`): run when needed, kept until they expire or are refused. */
export function execCredentials(
  reader: EntryReader,
  cluster: Readonly<Record<string, unknown>>,
  options: ExecOptions,
): Credentials {
  const plugin = readPlugin(reader, cluster, options);
  let cached: { credential: Credential; expiresAt: number } | undefined;
  let running: Promise<Credential> | undefined;

  const refresh = async (): Promise<Credential> => {
    const output = await run(plugin, options);
    cached = readCredential(output, plugin);
    return cached.credential;
  };
  return {
    async current(signal) {
      signal?.throwIfAborted();
      if (cached && options.clock.now() < cached.expiresAt) return cached.credential;
      // Everybody who asks meanwhile waits for the same run.
      running ??= refresh().finally(() => (running = undefined));
      return running;
    },
    refused(credential) {
      // Whoever comes second finds the credential replaced already, and need not run the command again.
      if (cached?.credential === credential) cached = undefined;
      return Promise.resolve(true);
    },
  };
}

function readPlugin(reader: EntryReader, cluster: Readonly<Record<string, unknown>>, options: ExecOptions): Plugin {
  const apiVersion = reader.text('apiVersion') ?? reader.fail('apiVersion', 'is missing');
  if (!apiVersions.includes(apiVersion))
    reader.fail('apiVersion', `is "${apiVersion}"; supported are ${apiVersions.join(' and ')}`);
  const command = reader.text('command') ?? reader.fail('command', 'is missing');
  const mode = reader.text('interactiveMode');
  if (mode === undefined && apiVersion === apiVersions[0])
    reader.fail('interactiveMode', 'is missing; write Never, IfAvailable or Always');
  if (mode !== undefined && !['Never', 'IfAvailable', 'Always'].includes(mode))
    reader.fail('interactiveMode', `is "${mode}"; write Never, IfAvailable or Always`);
  if (mode === 'Always' && !options.interactive)
    reader.fail('interactiveMode', 'is Always, but there is no terminal to ask anybody');
  return {
    apiVersion,
    // A path with a directory in it is relative to the kubeconfig; a bare name is looked up in PATH.
    command: /[\\/]/.test(command) && !isAbsolute(command) ? join(reader.directory, command) : command,
    args: reader.texts('args'),
    env: readEnv(reader),
    installHint: reader.text('installHint'),
    useTerminal: options.interactive && mode !== 'Never',
    cluster: reader.flag('provideClusterInfo') ? cluster : undefined,
    reader,
  };
}

function readEnv(reader: EntryReader): Record<string, string> {
  const list = reader.value('env') ?? [];
  if (!Array.isArray(list)) reader.fail('env', 'must be a list');
  const result: Record<string, string> = {};
  for (const [index, item] of (list as unknown[]).entries()) {
    if (!isObject(item) || typeof item['name'] !== 'string' || typeof item['value'] !== 'string')
      reader.fail(`env[${index}]`, 'must have a name and a value');
    const { name, value } = item as { name: string; value: string };
    result[name] = value;
  }
  return result;
}

function run(plugin: Plugin, options: ExecOptions): Promise<string> {
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: plugin.useTerminal, ...(plugin.cluster ? { cluster: plugin.cluster } : {}) },
  };
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: { ...options.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [plugin.useTerminal ? 'inherit' : 'ignore', 'pipe', plugin.useTerminal ? 'inherit' : 'pipe'],
      windowsHide: true,
    });
    const limit = timeLimit(options.clock, options.timeoutMs);
    limit.signal.addEventListener('abort', () => {
      child.kill('SIGKILL');
      fail(`did not finish within ${options.timeoutMs / 1000} s`);
    });
    const fail = (problem: string, cause?: unknown) => {
      limit[Symbol.dispose]();
      reject(plugin.reader.error('command', `"${plugin.command}" ${problem}`, cause));
    };
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-500)));
    child.once('error', (error: NodeJS.ErrnoException) => {
      const hint = plugin.installHint ? `. ${plugin.installHint.trim()}` : '';
      fail(error.code === 'ENOENT' ? `was not found${hint}` : `could not be run: ${error.code ?? 'failed'}`, error);
    });
    child.once('close', (code, signal) => {
      limit[Symbol.dispose]();
      if (code === 0) resolve(stdout);
      else {
        // Plugins tell people on stderr what to do (log in again); what they print on stdout is secret.
        const said = stderr.trim() === '' ? '' : `: ${stderr.trim()}`;
        fail(`ended with ${code === null ? signal : `exit code ${code}`}${said}`);
      }
    });
  });
}

function readCredential(output: string, plugin: Plugin): { credential: Credential; expiresAt: number } {
  const fail = (problem: string) => plugin.reader.fail('command', `"${plugin.command}" ${problem}`);
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    return fail('printed something that is not JSON');
  }
  if (!isObject(answer) || answer['kind'] !== 'ExecCredential') return fail('did not print an ExecCredential');
  if (answer['apiVersion'] !== plugin.apiVersion)
    return fail(`answered in ${String(answer['apiVersion'])}, but was asked for ${plugin.apiVersion}`);
  const status = answer['status'];
  if (!isObject(status)) return fail('printed an ExecCredential without status');
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (typeof token !== 'string' && typeof cert !== 'string')
    return fail('printed neither a token nor a client certificate');
  if ((typeof cert === 'string') !== (typeof key === 'string'))
    return fail('printed a client certificate without its key, or a key without its certificate');
  let expiresAt = Number.POSITIVE_INFINITY;
  if (typeof expirationTimestamp === 'string') {
    expiresAt = Date.parse(expirationTimestamp);
    if (Number.isNaN(expiresAt)) return fail('printed an expirationTimestamp that is not a time');
  }
  return {
    expiresAt,
    credential: {
      ...(typeof token === 'string' ? { authorization: `Bearer ${token}` } : {}),
      ...(typeof cert === 'string' ? { clientCertificate: { cert, key: key as string } } : {}),
    },
  };
}
