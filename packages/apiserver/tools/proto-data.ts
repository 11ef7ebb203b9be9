import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoSource } from './go-source.ts';
import type { Recording } from './recording.ts';
import { kindsOf } from './schema-data.ts';

/**
 * One field: number, name in JSON (empty when its fields are inlined), type, and 1 when repeated. Types: `v` varint, `b` bool,
 * `s` string, `y` bytes, `d` double, `f` float, `m:NAME` message, `e:TYPE` map with string keys.
 */
export type ProtoField = [number: number, name: string, type: string, repeated?: 1];

interface Message {
  fields: { number: number; name: string; type: string; repeated: boolean; mapValue: string }[];
}

const scalars: Record<string, string> = {
  int32: 'v',
  int64: 'v',
  uint32: 'v',
  uint64: 'v',
  bool: 'b',
  string: 's',
  bytes: 'y',
  double: 'd',
  float: 'f',
};

const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** The messages of all kinds a request body may hold, by definition name. */
export function protoMessages(recording: Recording, source: GoSource): Map<string, ProtoField[]> {
  const files = new Map<string, Map<string, Message>>();
  const result = new Map<string, ProtoField[]>();
  const queue = Object.entries(kindsOf(recording))
    .filter(([kind]) => !kind.endsWith('List'))
    .map(([, definition]) => definition);
  queue.push(deleteOptions);
  for (let definition = queue.pop(); definition !== undefined; definition = queue.pop()) {
    if (result.has(definition)) continue;
    const packageName = definition.slice('io.k8s.'.length, definition.lastIndexOf('.'));
    const name = definition.slice(definition.lastIndexOf('.') + 1);
    const message = messagesOf(packageName, source, files)?.get(name);
    if (!message) continue;
    const goFields = source.declaredFields(`k8s.io/${packageName.replaceAll('.', '/')}`, name);
    const jsonNames = new Map(
      goFields?.map((field) => [field.protoNumber, field.inline ? '' : field.jsonName || field.goName]),
    );
    const typeText = (type: string): string => {
      const scalar = scalars[type];
      if (scalar) return scalar;
      const full = type.startsWith('.')
        ? `io.${type.slice(1).replace(/^k8s\.io\./, 'k8s.')}`
        : `io.k8s.${packageName}.${type}`;
      queue.push(full);
      return `m:${full}`;
    };
    result.set(
      definition,
      message.fields.map((field): ProtoField => {
        const type = field.mapValue === '' ? typeText(field.type) : `e:${typeText(field.mapValue)}`;
        const jsonName = jsonNames.get(field.number) ?? field.name;
        return field.repeated ? [field.number, jsonName, type, 1] : [field.number, jsonName, type];
      }),
    );
  }
  return result;
}

function messagesOf(
  packageName: string,
  source: GoSource,
  files: Map<string, Map<string, Message>>,
): Map<string, Message> | undefined {
  let messages = files.get(packageName);
  if (!messages) {
    const [module = '', ...rest] = packageName.split('.');
    let text: string;
    try {
      text = readFileSync(join(source.moduleDirectory(module), ...rest, 'generated.proto'), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      text = '';
    }
    messages = readProto(text);
    files.set(packageName, messages);
  }
  return messages;
}

function readProto(text: string): Map<string, Message> {
  const messages = new Map<string, Message>();
  let message: Message | undefined;
  for (const line of text.split('\n')) {
    const start = /^message (\w+) \{/.exec(line)?.[1];
    if (start) {
      message = { fields: [] };
      messages.set(start, message);
    } else if (line === '}') message = undefined;
    const map = /^\s+map<string, ([\w.]+)> (\w+) = (\d+);/.exec(line);
    if (message && map) {
      message.fields.push({
        number: Number(map[3]),
        name: map[2] ?? '',
        type: '',
        repeated: false,
        mapValue: map[1] ?? '',
      });
    }
    const field = /^\s+(optional|repeated|required) ([\w.]+) (\w+) = (\d+);/.exec(line);
    if (message && field) {
      message.fields.push({
        number: Number(field[4]),
        name: field[3] ?? '',
        type: field[2] ?? '',
        repeated: field[1] === 'repeated',
        mapValue: '',
      });
    }
  }
  return messages;
}
