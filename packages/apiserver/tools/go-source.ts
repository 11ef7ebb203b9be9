import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/** One field of a Go struct with a `json` tag. */
export interface GoField {
  goName: string;
  /** Empty for an inlined embedded struct. */
  jsonName: string;
  goType: string;
  inline: boolean;
  omitEmpty: boolean;
  omitZero: boolean;
  /** The number in protobuf; 0 when the field is not in protobuf. */
  protoNumber: number;
  /** The embedded structs it was inlined from, outermost first. */
  via: string[];
}

/** The declared types of one Go package. */
export interface GoPackage {
  path: string;
  structs: Map<string, GoField[]>;
  /** `type X Y` for anything that is not a struct: X → Y. */
  named: Map<string, string>;
  imports: Map<string, string>;
}

/** A Go type after names were followed to what they stand for. */
export type GoShape =
  | { is: 'pointer' | 'slice' | 'map' | 'interface' }
  | { is: 'scalar'; zero: string | number | boolean }
  | { is: 'struct'; package: string; name: string };

/** Reads the Kubernetes API modules out of the Go module cache, downloading them when missing. */
export class GoSource {
  readonly #version: string;
  readonly #directories = new Map<string, string>();
  readonly #packages = new Map<string, GoPackage | undefined>();

  constructor(version: string) {
    this.#version = version;
  }

  /** The declared fields of a struct, inlined ones as they are. */
  declaredFields(path: string, name: string): GoField[] | undefined {
    return this.package(path)?.structs.get(name);
  }

  moduleDirectory(module: string): string {
    let directory = this.#directories.get(module);
    if (directory === undefined) {
      const answer = execFileSync('go', ['mod', 'download', '-json', `k8s.io/${module}@${this.#version}`], {
        encoding: 'utf8',
        env: { ...process.env, GOFLAGS: '-mod=mod' },
      });
      directory = (JSON.parse(answer) as { Dir: string }).Dir;
      this.#directories.set(module, directory);
    }
    return directory;
  }

  /** `path` as in `k8s.io/api/apps/v1`. */
  package(path: string): GoPackage | undefined {
    if (!this.#packages.has(path)) this.#packages.set(path, this.#read(path));
    return this.#packages.get(path);
  }

  #read(path: string): GoPackage | undefined {
    const [host, module, ...rest] = path.split('/');
    if (host !== 'k8s.io' || module === undefined) return undefined;
    if (!['api', 'apimachinery', 'apiextensions-apiserver', 'kube-aggregator'].includes(module)) return undefined;
    const directory = join(this.moduleDirectory(module), ...rest);
    if (!existsSync(directory)) return undefined;
    const found: GoPackage = { path, structs: new Map(), named: new Map(), imports: new Map() };
    for (const file of readdirSync(directory)) {
      if (!file.endsWith('.go') || file.endsWith('_test.go') || /generated|swagger_doc/.test(file)) continue;
      readGoFile(readFileSync(join(directory, file), 'utf8'), found);
    }
    return found;
  }

  /** The struct of an OpenAPI definition such as `io.k8s.api.apps.v1.Deployment`. */
  structOf(definition: string): { package: GoPackage; fields: GoField[] } | undefined {
    const segments = definition.split('.');
    if (segments[0] !== 'io' || segments[1] !== 'k8s') return undefined;
    const name = segments.at(-1) ?? '';
    const found = this.package(['k8s.io', ...segments.slice(2, -1)].join('/'));
    const fields = found?.structs.get(name);
    return found && fields ? { package: found, fields: this.#flatten(found, fields) } : undefined;
  }

  #flatten(from: GoPackage, fields: GoField[]): GoField[] {
    return fields.flatMap((field) => {
      if (!field.inline) return [field];
      const shape = this.shapeOf(from, field.goType);
      if (shape.is !== 'struct') return [];
      const target = this.package(shape.package);
      const inner = target?.structs.get(shape.name);
      if (!target || !inner) return [];
      // Types of inlined fields are named from their own package.
      return this.#flatten(target, inner).map((one) => ({
        ...one,
        goType: absolute(target, one.goType),
        via: [field.goName, ...one.via],
      }));
    });
  }

  shapeOf(from: GoPackage, goType: string): GoShape {
    if (goType.startsWith('*')) return { is: 'pointer' };
    if (goType.startsWith('[]')) return { is: 'slice' };
    if (goType.startsWith('map[')) return { is: 'map' };
    if (goType.startsWith('interface') || goType === 'any') return { is: 'interface' };
    if (goType === 'string') return { is: 'scalar', zero: '' };
    if (goType === 'bool') return { is: 'scalar', zero: false };
    if (/^(u?int\d*|float\d+|byte|rune)$/.test(goType)) return { is: 'scalar', zero: 0 };
    const { path, name } = named(from, goType);
    const known = wellKnown[`${path}.${name}`];
    if (known) return known;
    const target = this.package(path);
    if (target?.structs.has(name)) return { is: 'struct', package: path, name };
    const under = target?.named.get(name);
    if (target && under) return this.shapeOf(target, under);
    throw new Error(`Go type ${goType} used in ${from.path} is not known`);
  }
}

const nullWhenZero: GoShape = { is: 'interface' };
/** Types that print themselves, or live outside the modules we read. */
const wellKnown: Record<string, GoShape> = {
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': nullWhenZero,
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': nullWhenZero,
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': nullWhenZero,
  'k8s.io/apimachinery/pkg/runtime.RawExtension': nullWhenZero,
  'k8s.io/apimachinery/pkg/runtime.Object': nullWhenZero,
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON': nullWhenZero,
  'k8s.io/apimachinery/pkg/apis/meta/v1.Duration': { is: 'scalar', zero: '0s' },
  'k8s.io/apimachinery/pkg/api/resource.Quantity': { is: 'scalar', zero: '0' },
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': { is: 'scalar', zero: 0 },
  'k8s.io/apimachinery/pkg/types.UID': { is: 'scalar', zero: '' },
  'time.Duration': { is: 'scalar', zero: 0 },
  'time.Time': nullWhenZero,
};

/** Where a type name used in a package comes from. */
export function named(from: GoPackage, goType: string): { path: string; name: string } {
  const dot = goType.lastIndexOf('.');
  if (dot < 0) return { path: from.path, name: goType };
  const qualifier = goType.slice(0, dot);
  return { path: from.imports.get(qualifier) ?? qualifier, name: goType.slice(dot + 1) };
}

function absolute(from: GoPackage, goType: string): string {
  const [, prefix = '', core = ''] = /^((?:\*|\[\]|map\[\w+\])*)(.*)$/.exec(goType) ?? [];
  if (/^(string|bool|u?int\d*|float\d+|byte|rune|interface.*|any)$/.test(core)) return goType;
  const { path, name } = named(from, core);
  return `${prefix}${path}.${name}`;
}

function readGoFile(text: string, into: GoPackage): void {
  const source = text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
  for (const match of source.matchAll(/^\s*(?:import\s+)?(?:(\w+)\s+)?"([\w./-]+)"\s*$/gm)) {
    const path = match[2] ?? '';
    into.imports.set(match[1] ?? path.split('/').at(-1) ?? '', path);
  }
  let fields: GoField[] | undefined;
  for (const raw of source.split('\n')) {
    const line = raw.replace(/^\s*\/\/.*$/, '').trimEnd();
    if (fields) {
      if (line === '}') fields = undefined;
      else {
        const field = readField(line);
        if (field) fields.push(field);
      }
      continue;
    }
    const struct = /^type (\w+) struct ?\{ ?(\})?$/.exec(line);
    if (struct?.[1]) {
      const list: GoField[] = [];
      into.structs.set(struct[1], list);
      if (!struct[2]) fields = list;
      continue;
    }
    const other = /^type (\w+) =? ?([\w.[\]*]+)\s*(?:\/\/.*)?$/.exec(line);
    if (other?.[1] && other[2] && other[2] !== 'interface') into.named.set(other[1], other[2]);
  }
}

function readField(line: string): GoField | undefined {
  const match = /^\s+(?:(\w+)\s+)?([\w.[\]*{}]+)\s+`([^`]*)`/.exec(line);
  const tag = /json:"([^"]*)"/.exec(match?.[3] ?? '')?.[1];
  if (!match || tag === undefined || tag === '-') return undefined;
  const [jsonName = '', ...options] = tag.split(',');
  const goType = match[2] ?? '';
  const embedded = match[1] === undefined;
  return {
    goName: match[1] ?? goType.split('.').at(-1) ?? '',
    jsonName,
    goType,
    inline: embedded && (jsonName === '' || options.includes('inline')),
    omitEmpty: options.includes('omitempty'),
    omitZero: options.includes('omitzero'),
    via: [],
    protoNumber: Number(/protobuf:"\w+,(\d+)/.exec(match[3] ?? '')?.[1] ?? 0),
  };
}
