import { applyPatch, differentialCase as test, patch, poll, post, send, type Json } from '../case.ts';

const notes = '/apis/yaml.example.com/v1/namespaces/{ns}/notes';

const noteCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'notes.yaml.example.com' },
  spec: {
    group: 'yaml.example.com',
    scope: 'Namespaced',
    names: { plural: 'notes', kind: 'Note' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const head = 'apiVersion: yaml.example.com/v1\nkind: Note\nmetadata: {name: note}\n';
/** What was read; the texts of refusals are those of the parser. */
const pick = ({ value, reason, code }: Json) => ({ value, reason, code });
const options = { pick, headers: { 'content-type': 'application/yaml' } };
const read = (label: string, text: string) =>
  send(label, 'POST', `${notes}?dryRun=All`, { body: `${head}value: ${text}\n`, ...options });

/** Values, each of them a YAML of its own. */
const values: readonly string[] = [
  ['yes', 'No', 'on', 'y', 'N', 'True', 'nULL', 'Null', '~', '', '"yes"', "'1'"],
  ['010', '0o17', '08', '0x1F', '-0b101', '+12', '1_000', '12e3', '.5', '1.', '-.5', '1e3', '0.10', '1_0.5'],
  ['9007199254740993', '-9223372036854775808', '18446744073709551615', '18446744073709551616', '.inf', '.nan'],
  ['12:30:45', '2020-01-01', '2020-01-01T00:00:00Z', '1.2.3', '-', '<<', '=', '0x', '1e', '_1', '1__0'],
  ['!!str 12', '!!int "12"', '!mine text', '!!binary aGk=', '!!float 1', '!!set {a: }', '!mine {a: b}'],
  ['{<<: {a: 1, b: 1}, b: 2}', '{b: 2, <<: {b: 3}}', '{<<: [{a: 1}, {a: 2, c: 3}]}', '{<<: 1}'],
  ['{1: a, true: b, 1.5: c}', '{null: a}', '{[a]: b}', '{a: 1, a: 2}', '[a, b, ]', '{a, b: }', '[a'],
  ['&x {k: v}', '[&x 1, *x]', '*none', '|\n  two\n  lines', '>-\n  one\n  line', '"\\u00e9\\x41"', '"\\q"', "'it''s'"],
  ['@a', '`a`', '%a', 'a: b', 'a #b', 'a#b', '"a" b', '- a'],
].flat();

/** YAML in bodies, as Go's reader of version 1.1 takes it. */
export const yaml = [
  test(
    'YAML values',
    post('CRD', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', noteCrd, { pick }),
    poll('the kind', notes, ({ status }) => status === 200),
    ...values.map((text) => read(text, text)),
    read('a tab for indentation', '\n\ta: b'),
    read('a second document', 'a\n---\nvalue: b'),
    read('a second document that is none', 'a\n---\n{]'),
    read('the end of a document', 'a\n...\n'),
    send('a first line that separates', 'POST', `${notes}?dryRun=All`, { body: `---\n${head}value: a\n`, ...options }),
    send('a byte order mark', 'POST', `${notes}?dryRun=All`, { body: `\ufeff${head}value: a\n`, ...options }),
    send('nothing', 'POST', `${notes}?dryRun=All`, { body: '# nothing\n', ...options }),
    patch('an apply with aliases', `${notes}/note?fieldManager=a`, applyPatch, `${head}value: [&x {a: 1}, *x]\n`, {
      pick,
    }),
    patch('an apply with a merge', `${notes}/note?fieldManager=a`, applyPatch, `${head}value: {<<: {a: 1}}\n`, {
      pick,
    }),
  ),
];
