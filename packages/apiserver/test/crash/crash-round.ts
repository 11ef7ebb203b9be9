import { spawn, type ChildProcess } from 'node:child_process';
import { Agent, request, type ClientRequest } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface Answer {
  readonly status: number;
  readonly body: { metadata: { resourceVersion: string }; items: StoredObject[] };
}

interface StoredObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly value?: string };
}

/** A server process that can be killed at any moment. */
export class MortalServer {
  readonly url: string;
  readonly revision: number;
  readonly #process: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });

  private constructor(process: ChildProcess, url: string, revision: number) {
    this.#process = process;
    this.url = url;
    this.revision = revision;
  }

  static async start(dataDir: string): Promise<MortalServer> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'server-process.ts'), dataDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    const { url, revision } = JSON.parse(line) as { url: string; revision: number };
    return new MortalServer(child, url, revision);
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    const gone = new Promise((resolve) => {
      this.#process.once('exit', resolve);
    });
    this.#process.kill('SIGKILL');
    await gone;
    this.#agent.destroy();
  }

  send(method: string, path: string, body?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.url}${path}`, {
        method,
        agent: this.#agent,
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      });
      outgoing.once('error', reject);
      outgoing.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) as Answer['body'] }));
        response.once('close', () => reject(new Error('cut off')));
      });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Calls back for every event until the server dies. */
  watch(path: string, onEvent: (type: string, object: StoredObject) => void): ClientRequest {
    const outgoing = request(`${this.url}${path}`);
    outgoing.on('error', () => undefined);
    outgoing.once('response', (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('error', () => undefined);
      response.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: StoredObject };
          onEvent(type, object);
        }
      });
    });
    outgoing.end();
    return outgoing;
  }
}

const path = '/api/v1/namespaces/default/configmaps';

/** A client that remembers what was acknowledged to it, and holds every server that follows to it. */
export class Bookkeeper {
  /** By name: the acknowledged value, undefined for what was acknowledged to be deleted. */
  readonly #known = new Map<string, string | undefined>();
  /** By name: what a request without an answer may have made of it. */
  readonly #unsure = new Map<string, string | undefined>();
  readonly #watched = new Map<string, string>();
  #highest = 0;
  #seen = 0;
  #writes = 0;
  readonly problems: string[] = [];
  acknowledged = 0;

  /** What must be true of a server that has just started again. */
  async check(server: MortalServer): Promise<void> {
    if (server.revision < this.#highest) {
      this.problems.push(`revision ${server.revision} after ${this.#highest} was acknowledged`);
    }
    const { body } = await server.send('GET', path);
    const stored = new Map(body.items.map((item) => [item.metadata.name, item.data?.value]));
    for (const [name, value] of this.#known) {
      const found = stored.get(name);
      if (found === value) continue;
      if (this.#unsure.has(name) && found === this.#unsure.get(name)) this.#known.set(name, found);
      else this.problems.push(`${name} is ${found} instead of ${value}`);
    }
    for (const [name, value] of stored) {
      if (this.#known.has(name)) continue;
      if (this.#unsure.get(name) === value) this.#known.set(name, value);
      else this.problems.push(`${name} is there and nobody wrote it`);
    }
    this.#unsure.clear();
  }

  /** Goes on with the watch where the last server left it; the promise is kept when it has seen everything up to now. */
  async follow(server: MortalServer): Promise<void> {
    if (this.#seen === 0) this.#seen = server.revision;
    await new Promise<void>((resolve, reject) => {
      server.watch(`${path}?watch=true&resourceVersion=${this.#seen}`, (type, object) => {
        if (type === 'ERROR') {
          reject(new Error(`the watch from ${this.#seen} answered ${JSON.stringify(object)}`));
          return;
        }
        const version = Number(object.metadata.resourceVersion);
        if (version <= this.#seen) this.problems.push(`event ${version} after ${this.#seen}`);
        this.#seen = version;
        const { name } = object.metadata;
        if (type === 'DELETED') this.#watched.delete(name);
        else this.#watched.set(name, object.data?.value ?? '');
        if (name === 'marker') resolve();
      });
      this.#write(server, 'marker', 'PUT').catch(reject);
    });
    const expected = new Map([...this.#known].filter(([, value]) => value !== undefined));
    for (const name of new Set([...expected.keys(), ...this.#watched.keys()])) {
      if (expected.get(name) !== this.#watched.get(name)) {
        this.problems.push(`the watch has ${name} as ${this.#watched.get(name)}, it is ${expected.get(name)}`);
      }
    }
  }

  /** Writes with several hands until the server dies. */
  async writeUntilDeath(server: MortalServer, random: () => number, onAcknowledged: () => void): Promise<void> {
    const hand = async (index: number) => {
      for (;;) {
        const name = `h${index}-${Math.floor(random() * 8)}`;
        const exists = this.#known.get(name) !== undefined;
        const method = !exists ? 'POST' : random() < 0.3 ? 'DELETE' : random() < 0.5 ? 'PUT' : 'PATCH';
        try {
          await this.#write(server, name, method);
        } catch {
          return;
        }
        onAcknowledged();
      }
    };
    await Promise.all(Array.from({ length: 4 }, (_, index) => hand(index)));
  }

  async #write(server: MortalServer, name: string, method: string): Promise<void> {
    this.#writes += 1;
    const isNew = this.#known.get(name) === undefined;
    const value = method === 'DELETE' ? undefined : `${this.#writes}`;
    const verb = isNew ? 'POST' : method;
    this.#unsure.set(name, value);
    const at = verb === 'POST' ? path : `${path}/${name}`;
    const body = method === 'DELETE' ? undefined : { metadata: { name }, data: { value, pad: 'x'.repeat(300) } };
    const answer = await server.send(verb, at, body);
    if (answer.status >= 300) {
      this.problems.push(`${verb} ${name}: status ${answer.status}`);
      return;
    }
    this.#known.set(name, value);
    this.#unsure.delete(name);
    this.acknowledged += 1;
    if (method !== 'DELETE') this.#highest = Math.max(this.#highest, Number(answer.body.metadata.resourceVersion));
  }
}
