import { customResource, pod, type BenchObject } from './objects.ts';

/** What differs between two objects of a kind and between two versions of an object. */
export interface Variables {
  readonly index: number;
  readonly version: number;
  readonly generation: number;
  /** What the object asks for; a reconciler copies it into the status. */
  readonly revision: number;
  readonly observed: number;
}

/** Stand-ins in a template; numbers of the same width replace them, so that lengths never change, in protobuf neither. */
const tokens = {
  index: '77777777',
  namespace: '33333333',
  version: '8888888888',
  generation: '66666666',
  revision: '55555555',
  observed: '44444444',
} as const;

export const revisionAnnotation = 'example.com/revision';
export const namespaces = 50;

export type BenchKind = 'website' | 'pod';

/** The object all bytes of a kind are made from. */
export function templateObject(kind: BenchKind): BenchObject {
  const index = Number(tokens.index);
  const namespace = `namespace-${tokens.namespace}`;
  if (kind === 'website') {
    const object = customResource(index);
    return {
      ...object,
      metadata: {
        ...object.metadata,
        generation: Number(tokens.generation),
        namespace,
        resourceVersion: tokens.version,
      },
      spec: sorted({ ...(object['spec'] as object), revision: tokens.revision }),
      status: sorted({ ...(object['status'] as object), message: tokens.observed }),
    };
  }
  const object = pod(index);
  return {
    ...object,
    metadata: {
      ...object.metadata,
      namespace,
      resourceVersion: tokens.version,
      annotations: { ...(object.metadata['annotations'] as object), [revisionAnnotation]: tokens.revision },
    },
    status: { ...(object['status'] as object), message: tokens.observed },
  };
}

export function objectName(kind: BenchKind, index: number): string {
  return `${kind === 'website' ? 'site' : 'web'}-${digits(index, 8)}`;
}

export function indexOfName(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1)) - offset;
}

/** Bytes with holes for the variables. */
export class Template {
  readonly #bytes: Buffer;
  readonly #holes: readonly (readonly [token: keyof typeof tokens, at: number])[];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const holes: [keyof typeof tokens, number][] = [];
    for (const name of Object.keys(tokens) as (keyof typeof tokens)[]) {
      const token = Buffer.from(tokens[name]);
      for (let at = bytes.indexOf(token); at >= 0; at = bytes.indexOf(token, at + token.length)) holes.push([name, at]);
    }
    this.#holes = holes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  fill(variables: Variables): Buffer {
    const texts = {
      index: digits(variables.index, 8),
      namespace: digits(variables.index % namespaces, 8),
      version: digits(variables.version, 10),
      generation: digits(variables.generation, 8),
      revision: digits(variables.revision, 8),
      observed: digits(variables.observed, 8),
    };
    const filled = Buffer.from(this.#bytes);
    for (const [name, at] of this.#holes) filled.write(texts[name], at, 'latin1');
    return filled;
  }
}

const offset = 10_000_000;

/** Fixed width, first digit never 0: JSON numbers have no leading zeros. */
function digits(value: number, width: number): string {
  return String(value + offset * 10 ** (width - 8));
}

function sorted(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
