import { readFile } from 'node:fs/promises';

/** Says what the API server writes down: every request when it is answered, without bodies. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata' }],
});

export interface RequestCounts {
  readonly gets: number;
  readonly lists: number;
  /** Writes that are only tried. */
  readonly dryRuns: number;
  readonly writes: number;
  readonly other: number;
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user?: { readonly username?: string };
  /** Set for the driver, which looks on. */
  readonly impersonatedUser?: unknown;
  readonly objectRef?: { readonly resource?: string };
}

/** Reads the audit log of a cluster from where it was left. */
export class AuditLog {
  readonly #file: string;
  #read = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** What the administrator has asked since the last call, by what it was; `see` is given each request. */
  async counts(see?: (verb: string, uri: string) => void): Promise<RequestCounts> {
    const bytes = await readFile(this.#file);
    const lines = bytes.toString('utf8', this.#read).split('\n');
    this.#read = bytes.length;
    const counts = { gets: 0, lists: 0, dryRuns: 0, writes: 0, other: 0 };
    for (const line of lines) {
      if (line === '') continue;
      const event = JSON.parse(line) as AuditEvent;
      if (event.user?.username !== 'kubernetes-admin' || event.impersonatedUser !== undefined) continue;
      see?.(event.verb, event.requestURI);
      if (event.objectRef?.resource === undefined || event.verb === 'watch') counts.other += 1;
      else if (event.verb === 'get') counts.gets += 1;
      else if (event.verb === 'list') counts.lists += 1;
      else if (event.requestURI.includes('dryRun=')) counts.dryRuns += 1;
      else counts.writes += 1;
    }
    return counts;
  }
}
