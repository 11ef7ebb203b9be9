import { type ChildProcess, spawn } from 'node:child_process';
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { basicAuthorization, type GitCredentials } from '../git/credentials.ts';
import { runGit } from '../git/git-process.ts';

export interface GitServerOptions {
  /** Where the bare repositories are. */
  readonly directory: string;
  /** Made when missing, such as `otomi/values.git`. */
  readonly repository: string;
  readonly credentials: GitCredentials;
  /** Default 0: any free one. */
  readonly port?: number;
  /** Told after every push. */
  readonly onPush?: () => void;
}

/** A Git server on the loopback address: smart HTTP as `git http-backend` speaks it, for one user with a password. */
export interface GitServer extends AsyncDisposable {
  /** Of the repository, without credentials. */
  readonly url: string;
  readonly repository: string;
}

export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const repository = join(options.directory, options.repository);
  await mkdir(repository, { recursive: true });
  const made = await access(join(repository, 'HEAD')).then(
    () => true,
    () => false,
  );
  if (!made) await runGit(['init', '--quiet', '--bare', '--initial-branch=main', '.'], { cwd: repository });
  const backends = new Set<ChildProcess>();
  const server = createServer((request, response) => {
    const backend = answer(request, response, options);
    if (!backend) return;
    backends.add(backend);
    backend.once('close', () => backends.delete(backend));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(options.port ?? 0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${options.repository}`,
    repository,
    async [Symbol.asyncDispose]() {
      await close(server);
      // Those of requests that were cut off are still ending.
      await Promise.all([...backends].map((backend) => once(backend, 'close')));
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: GitServerOptions,
): ChildProcess | undefined {
  if (!isExpected(request.headers.authorization, options.credentials)) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="slipway"' }).end('authentication required\n');
    return undefined;
  }
  const [path = '', query = ''] = (request.url ?? '/').split('?');
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: options.directory,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_PROJECT_ROOT: options.directory,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: options.credentials.username,
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      ...(request.headers['content-length'] ? { CONTENT_LENGTH: request.headers['content-length'] } : {}),
    },
  });
  backend.once('error', () => response.writeHead(500).end('git http-backend cannot be run\n'));
  // Git closes its input early when it refuses.
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  relay(backend.stdout, response);
  if (path.endsWith('/git-receive-pack') && options.onPush) response.once('finish', options.onPush);
  response.once('close', () => void backend.kill());
  return backend;
}

/** A CGI answer: headers, an empty line, the body. */
function relay(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head: Buffer | undefined = Buffer.alloc(0);
  output.on('data', (chunk: Buffer) => {
    if (head === undefined) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    let status = 200;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/:\s*/, 2);
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status);
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  output.on('end', () => {
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
}

function isExpected(given: string | undefined, credentials: GitCredentials): boolean {
  const wanted = Buffer.from(basicAuthorization(credentials));
  const received = Buffer.from(given ?? '');
  return wanted.length === received.length && timingSafeEqual(wanted, received);
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
