import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';

export interface TargetOptions {
  readonly url: string;
  /** PEM; absent for plain HTTP. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** How long to look whether a watch brings more than expected, in milliseconds. */
  readonly settleMs: number;
  /** Forgets the history of the cluster. */
  readonly compact: () => Promise<void>;
}

export interface TargetRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TargetAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface TargetWatch {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly lines: readonly string[];
  readonly ended: boolean;
  /** Calls back after every line and at the end. */
  onChange(listener: () => void): void;
  close(): void;
}

/** A server the cases are sent to: only its address and credentials tell a real one from the embedded one. */
export class Target implements Disposable {
  readonly settleMs: number;
  readonly compact: () => Promise<void>;
  readonly #url: string;
  readonly #agent: Agent | PlainAgent;

  constructor(options: TargetOptions) {
    this.settleMs = options.settleMs;
    this.compact = options.compact;
    this.#url = options.url;
    this.#agent = options.url.startsWith('https')
      ? new Agent({ keepAlive: true, ca: options.ca, cert: options.cert, key: options.key })
      : new PlainAgent({ keepAlive: true });
  }

  async send(sent: TargetRequest): Promise<TargetAnswer> {
    const response = await this.#open(sent);
    response.setEncoding('utf8');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  }

  async watch(path: string, headers: Readonly<Record<string, string>>): Promise<TargetWatch> {
    const response = await this.#open({ method: 'GET', path, headers });
    response.setEncoding('utf8');
    const lines: string[] = [];
    let rest = '';
    let ended = false;
    let changed: () => void = () => undefined;
    response.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop()!;
      lines.push(...parts);
      changed();
    });
    response.on('end', () => {
      if (rest) lines.push(rest);
      ended = true;
      changed();
    });
    response.on('error', () => undefined);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      lines,
      get ended() {
        return ended;
      },
      onChange(listener) {
        changed = listener;
      },
      close: () => response.destroy(),
    };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #open({ method, path, headers, body }: TargetRequest): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : Buffer.from(body);
    return new Promise((resolve, reject) => {
      const start = this.#url.startsWith('https') ? request : plainRequest;
      const outgoing = start(`${this.#url}${path}`, {
        method,
        agent: this.#agent as Agent,
        headers: { ...headers, ...(payload ? { 'content-length': String(payload.length) } : {}) },
      });
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}
