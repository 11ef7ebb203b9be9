import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { onReference, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { parseManifests } from '../src/index.ts';

/** A value in YAML, and the JSON kubectl makes of it. */
const values: readonly (readonly [string, string])[] = [
  ['12:30:45', '"12:30:45"'],
  ['190:20:30.15', '"190:20:30.15"'],
  ['0o17', '15'],
  ['0O17', '15'],
  ['0o8', '"0o8"'],
  ['017', '15'],
  ['-017', '-15'],
  ['00', '0'],
  ['0_7', '7'],
  ['08', '8'],
  ['09.5', '9.5'],
  ['0x1F', '31'],
  ['0X1f', '31'],
  ['+0x1', '1'],
  ['0x', '"0x"'],
  ['0b101', '5'],
  ['-0b101', '-5'],
  ['0B1', '1'],
  ['1_000', '1000'],
  ['1_', '1'],
  ['_1', '"_1"'],
  ['1_0.5', '10.5'],
  ['685_230.15', '685230.15'],
  ['+1', '1'],
  ['.5', '0.5'],
  ['+.5', '0.5'],
  ['1.', '1'],
  ['1.0', '1'],
  ['1e3', '1000'],
  ['1E3', '1000'],
  ['1.5e3', '1500'],
  ['1e', '"1e"'],
  ['1e400', '"1e400"'],
  ['1e-7', '1e-7'],
  ['y', 'true'],
  ['Y', 'true'],
  ['n', 'false'],
  ['N', 'false'],
  ['yes', 'true'],
  ['no', 'false'],
  ['on', 'true'],
  ['off', 'false'],
  ['True', 'true'],
  ['~', 'null'],
  ['Null', 'null'],
  ['2001-01-01', '"2001-01-01"'],
  ['2001-12-14t21:59:43.10-05:00', '"2001-12-14t21:59:43.10-05:00"'],
  ['=', '"="'],
  ['!!str 5', '"5"'],
  ['!!int "3"', '3'],
  ['!!float 3', '3'],
  ['!!binary aGVsbG8=', '"hello"'],
  ['9007199254740993', '9007199254740993'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['0x20000000000001', '9007199254740993'],
];

/** Maps in YAML, and the JSON kubectl makes of them. */
const maps: readonly (readonly [string, string])[] = [
  ['{base: &b {x: 1, z: 2}, at: {<<: *b, x: 9}}', '{"at":{"x":9,"z":2},"base":{"x":1,"z":2}}'],
  ['{base: &b {x: 1, z: 2}, at: {x: 9, <<: *b}}', '{"at":{"x":1,"z":2},"base":{"x":1,"z":2}}'],
  ['{base: &b {x: 1}, at: {<<: [*b, {x: 5, w: 1}]}}', '{"at":{"w":1,"x":1},"base":{"x":1}}'],
  ['{on: 1, n: 2, 1: a, 1.5: b}', '{"1":"a","1.5":"b","false":2,"true":1}'],
  ['{"<<": text}', '{"<<":"text"}'],
];

const documentWith = (value: string) =>
  `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nvalue: ${value}\n`;

/** JSON with the keys of every object in order. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${sorted(entry)}`).join()}}`;
}

describe('YAML is read as kubectl reads it', () => {
  test.each([...values, ...maps])('%s', (yaml, json) => {
    expect(sorted(parseManifests(documentWith(yaml))[0]?.['value'])).toBe(json);
  });

  test.each(['.inf', '-.INF', '.nan'])('%s cannot be sent and is refused', (yaml) => {
    expect(() => parseManifests(documentWith(yaml))).toThrow(`line 4: ${yaml} cannot be sent to a server`);
  });

  // kubectl rounds these; a rounded number is not what was written.
  test.each(['18446744073709551616', '-9223372036854775809'])('%s is refused, not rounded', (yaml) => {
    expect(() => parseManifests(documentWith(yaml))).toThrow(`line 4: ${yaml} is no 64-bit number`);
  });

  test.skipIf(skipped(!onReference, 'the comparison of YAML with kubectl itself; needs SLIPWAY_CLUSTER=reference'))(
    'by kubectl itself',
    async () => {
      const binaries = await ensureReferenceBinaries({ tools: ['kubectl'] });
      if (!binaries.available) throw new Error(binaries.reason);
      const all = [...values, ...maps];
      const printed = await run(binaries.kubectl, all.map(([yaml]) => documentWith(yaml)).join('---\n'));
      const answers = printed.split(/(?<=^\}\n)/m).map((object) => /"value": (.*)\n\}/s.exec(object)![1]!);
      expect(
        answers.map((answer) => answer.replaceAll(/\n\s*/g, '').replaceAll('": ', '":').replaceAll('\\u003c', '<')),
      ).toEqual(all.map(([, json]) => json));
    },
  );
});

/** What kubectl makes of a stream of documents, without a server. */
async function run(kubectl: string, input: string): Promise<string> {
  const child = spawn(kubectl, ['patch', '--local', '-f', '-', '--type=merge', '-p', '{}', '-o', 'json']);
  const output = text(child.stdout);
  const errors = text(child.stderr);
  child.stdin.end(input);
  return (await output) || Promise.reject(new Error(await errors));
}
