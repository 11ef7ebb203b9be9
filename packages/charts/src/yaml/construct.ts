import { bytesToText } from '../go/bytes.ts';
import { formatFloat } from '../go/float.ts';
import { quote } from '../go/quote.ts';
import type { GoMap, Value } from '../go/values.ts';
import type { MapNode, Node, ScalarNode } from './compose.ts';
import { resolvePlain, type Resolved, type YamlDialect } from './resolve.ts';
import { YamlError } from './yaml-error.ts';

export interface ReadYamlOptions {
  /** How numbers and booleans are read. Default `v2`, which is Helm's. */
  dialect?: YamlDialect;
  /** Default `float64`: Helm sends everything through JSON. helmfile keeps integers. */
  numbers?: 'float64' | 'int';
  /** Makes a value of what looks like a time; it stays a text without it, as it does in Helm. */
  timestamp?: (text: string) => Value;
  /** Keeps how a plain scalar was written beside what it means, see {@link PlainScalar}. Default false. */
  keepText?: boolean;
}

/** A scalar that is no string, for readers who may want the text: the version `1.10` is no number. */
export class PlainScalar {
  readonly text: string;
  readonly value: Value;

  constructor(text: string, value: Value) {
    this.text = text;
    this.value = value;
  }
}

/** Up to so many nodes, nearly all may come from aliases; from so many on, a tenth: a small text can stand for any number. */
const aliasRange = [400_000, 4_000_000] as const;

const standard = 'tag:yaml.org,2002:';
const largestKey = (1n << 63n) - 1n;

/** The value a document stands for, as go-yaml decodes it and `sigs.k8s.io/yaml` makes JSON of it. */
export function construct(document: Node, options: ReadYamlOptions): Value {
  return new Constructor(options).document(document);
}

class Constructor {
  readonly #options: ReadYamlOptions;
  readonly #dialect: YamlDialect;
  /** Aliases that are being followed. */
  readonly #open = new Set<Node>();
  #nodes = 0;
  #fromAliases = 0;
  /** What cannot be JSON is complained of when all is decoded. */
  #badKey: string | undefined;
  #badValue: string | undefined;

  constructor(options: ReadYamlOptions) {
    this.#options = options;
    this.#dialect = options.dialect ?? 'v2';
  }

  document(node: Node): Value {
    const value = this.#value(node);
    const complaint = this.#badKey ?? this.#badValue;
    if (complaint !== undefined) throw new YamlError(complaint);
    return value;
  }

  #value(node: Node): Value {
    this.#count();
    switch (node.kind) {
      case 'scalar':
        return this.#finished(this.#scalar(node));
      case 'list':
        return node.items.map((item) => this.#value(item));
      case 'map':
        return this.#map(node);
      case 'alias': {
        if (this.#open.has(node)) throw new YamlError(`yaml: anchor '${node.name}' value contains itself`);
        this.#open.add(node);
        const value = this.#value(node.target);
        this.#open.delete(node);
        return value;
      }
    }
  }

  /** Every alias makes a value of its own: templates change maps in place. */
  #count(): void {
    this.#nodes += 1;
    if (this.#open.size > 0) this.#fromAliases += 1;
    const [few, many] = aliasRange;
    const share = 0.99 - 0.89 * Math.min(Math.max((this.#nodes - few) / (many - few), 0), 1);
    const isExcessive = this.#fromAliases > 100 && this.#nodes > 1000 && this.#fromAliases > share * this.#nodes;
    if (isExcessive) throw new YamlError('yaml: document contains excessive aliasing');
  }

  #map(node: MapNode): GoMap {
    const map: GoMap = new Map();
    const { content } = node;
    if (this.#dialect === 'v3') checkRepeated(content);
    for (let at = 0; at < content.length; at += 2) {
      const key = content[at]!;
      const value = content[at + 1]!;
      if (isMerge(key)) this.#merge(map, value);
      else {
        const name = this.#key(key);
        const made = this.#value(value);
        if (name === undefined) this.#badKey ??= unsupportedKey(this.#keyOf(key), made);
        else map.set(name, made);
      }
    }
    return map;
  }

  /** Keys become strings on the way to JSON. */
  #key(node: Node): string | undefined {
    return keyText(this.#keyOf(node), this.#dialect);
  }

  #keyOf(node: Node): unknown {
    this.#count();
    if (node.kind === 'scalar') return this.#scalar(node);
    if (node.kind === 'alias' && node.target.kind === 'scalar') return this.#scalar(node.target);
    throw new YamlError(`yaml: invalid map key: ${goSyntax(this.#value(node))}`);
  }

  /** go-yaml v2 merges where the key stands, so that it may cover what was written before; v3 never covers anything. */
  #merge(map: GoMap, node: Node): void {
    const items = node.kind === 'list' ? node.items : [node];
    for (const item of this.#dialect === 'v2' ? items.toReversed() : items) {
      const target = item.kind === 'alias' ? item.target : item;
      if (target.kind !== 'map') throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
      const source = this.#value(item) as GoMap;
      for (const [key, value] of source) if (this.#dialect === 'v2' || !map.has(key)) map.set(key, value);
    }
  }

  #scalar({ text, tag, isPlain }: ScalarNode): unknown {
    if (tag === '' ? !isPlain : !resolvable.has(tag) && !(tag === '!' && this.#dialect === 'v3' && isPlain))
      return tag === `${standard}binary` ? decoded(text) : text;
    if (tag === `${standard}str`) return text;
    const resolved = resolvePlain(text, this.#dialect);
    const wanted = tag.startsWith(standard) ? tag.slice(standard.length) : '';
    const value = wanted === '' || wanted === resolved.tag ? resolved.value : converted(text, resolved, wanted);
    return this.#kept(text, resolved, value);
  }

  #kept(text: string, { tag }: Resolved, value: Resolved['value']): unknown {
    const { keepText = false, timestamp } = this.#options;
    const made = tag === 'timestamp' && timestamp ? timestamp(text) : value;
    const isText = tag === 'str' || tag === 'merge' || (tag === 'timestamp' && !timestamp);
    return keepText && !isText ? new PlainScalar(text, made) : made;
  }

  #finished(value: unknown): Value {
    const { numbers = 'float64' } = this.#options;
    if (numbers === 'int') return value as Value;
    if (typeof value === 'bigint') return Number(value);
    if (typeof value === 'number' && !Number.isFinite(value)) this.#badValue ??= unsupportedNumber(value);
    return value as Value;
  }
}

const resolvable = new Set([
  '',
  ...['str', 'bool', 'int', 'float', 'null', 'timestamp'].map((name) => standard + name),
]);

function checkRepeated(content: readonly Node[]): void {
  const lines = new Map<string, number>();
  for (let at = 0; at < content.length; at += 2) {
    const key = content[at]!;
    if (key.kind !== 'scalar') continue;
    const first = lines.get(key.text);
    if (first !== undefined)
      throw new YamlError(
        `yaml: line ${key.line + 1}: mapping key ${quote(key.text)} already defined at line ${first + 1}`,
      );
    lines.set(key.text, key.line);
  }
}

function isMerge(node: Node): boolean {
  return node.kind === 'scalar' && node.text === '<<' && (node.isPlain || node.tag === `${standard}merge`);
}

/** What a tag asks for that the text is not. */
function converted(text: string, { tag, value }: Resolved, wanted: string): Resolved['value'] {
  const isSmall = typeof value === 'bigint' && value <= largestKey;
  if (wanted === 'float' && isSmall) return Number(value);
  throw new YamlError(`yaml: cannot decode !!${tag} \`${text}\` as a !!${wanted}`);
}

function decoded(text: string): string {
  const encoded = text.replace(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded))
    throw new YamlError('yaml: !!binary value contains invalid base64 data');
  return bytesToText(Buffer.from(encoded, 'base64'));
}

export function unsupportedNumber(value: number): string {
  return `json: unsupported value: ${formatFloat(value, 'g')}`;
}

export function keyText(key: unknown, dialect: YamlDialect): string | undefined {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
      return String(key);
    case 'bigint':
      return dialect === 'v2' && key > largestKey ? undefined : String(key);
    case 'number':
      if (dialect === 'v2') return floatKey(key);
      return Number.isSafeInteger(key) ? String(key) : formatFloat(key, 'g');
    case 'object':
      return key instanceof PlainScalar ? key.text : undefined;
    default:
      return undefined;
  }
}

/** With as many digits as tell it from other floats of 32 bits. */
function floatKey(key: number): string {
  const single = Math.fround(key);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  let short = single;
  for (let digits = 1; digits < 10 && single !== 0; digits += 1) {
    short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) break;
  }
  return formatFloat(short, 'g');
}

function unsupportedKey(key: unknown, value: Value): string {
  const type = typeof key === 'bigint' ? 'uint64' : '%!s(<nil>)';
  return `unsupported map key of type: ${type}, key: ${goSyntax(key)}, value: ${goSyntax(value)}`;
}

/** `%#v` of what go-yaml decodes. */
function goSyntax(value: unknown, isInside = false): string {
  if (value === null) return isInside ? 'interface {}(nil)' : '<nil>';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint' && value > largestKey) return `0x${value.toString(16)}`;
  if (typeof value === 'number') return formatFloat(value, 'g');
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => goSyntax(item, true)).join(', ')}}`;
  if (!(value instanceof Map)) return String(value);
  const entries = Array.from(value, ([key, item]) => `${quote(String(key))}:${goSyntax(item, true)}`);
  return `map[interface {}]interface {}{${entries.join(', ')}}`;
}
