import { findOracle } from '@slipway/oracles';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { askHelm, ours, shown, type Answer } from './helm-probes.ts';
import { binary, ternary, unary, type Snippet } from './snippets.ts';

/**
 * Templates nobody wrote, rendered by Helm's engine and by ours. FUZZ_SEED and FUZZ_RUNS choose others and more; the seed is
 * fixed otherwise, so that a lane does not fail for what nobody changed.
 */
const inLane = process.env['SLIPWAY_CLUSTER'] === 'reference' || process.env['FUZZ_RUNS'] !== undefined;
const seed = Number(process.env['FUZZ_SEED'] ?? 13);
const runs = Number(process.env['FUZZ_RUNS'] ?? 4000);
/** FUZZ_COMPLAINTS shows so many complaints that Helm words otherwise. */
let shownComplaints = Number(process.env['FUZZ_COMPLAINTS'] ?? 0);
const oracle = await findOracle('helm-probes');
if (!inLane) process.stdout.write('SKIPPED random templates against Helm: npm run test:reference runs them\n');
else if (!oracle.available) process.stdout.write(`SKIPPED random templates against Helm: ${oracle.reason}\n`);

const flags = ['', '5', '-5', '05', '+', '#', ' ', '.2', '8.3', '+.1', '#.4', '[2]', '*'];
const verbs = Array.from('vdsqxXeEfgGtTcobU');
/** What YAML and JSON are read from, and what reads it. */
const documents = [
  '"a: 1\\nb: [x, yes, 0x1F]"',
  '"123456789012345678: a\\n1e6: b"',
  '"{\\"a\\": 1e2, \\"b\\": [null]}"',
  '"{\\"a\\": 1,}"',
  '"- 1\\n- a: |\\n    x\\n   "',
  '"a: \\"it\\\\\'s\\""',
  '""',
  '"nul"',
];
const readers = ['fromYaml ', 'fromJson ', 'fromYamlArray ', 'fromJsonArray ', 'toJson '];

/** Words of the language, put together by its grammar. Now and then a word stands where it must not. */
const { template } = fc.letrec<Record<string, string>>((tie) => {
  const [expression, operand, body, pipeline] = [tie('expression'), tie('operand'), tie('body'), tie('pipeline')];
  const trimLeft = fc.constantFrom('{{ ', '{{ ', '{{- ', '{{');
  const trimRight = fc.constantFrom(' }}', ' }}', ' -}}', '}}');
  const action = (content: fc.Arbitrary<string>) =>
    fc.tuple(trimLeft, content, trimRight).map(([left, inner, right]) => left + inner + right);
  const called = (names: string) => fc.constantFrom(...names.split(' '));
  const spaced = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((words) => words.join(' '));
  return {
    literal: fc.constantFrom(
      '1',
      '-2',
      '2.5',
      '1e3',
      '0x1F',
      '"text"',
      '`raw`',
      "'c'",
      'true',
      'false',
      'nil',
      '""',
      '"ü"',
      '07',
      '1_000',
      '0x1p-2',
      '"a\\nb"',
      "'\\q'",
      '1e400',
    ),
    field: fc.constantFrom(
      '.',
      '$',
      '.Values',
      '.Values.int',
      '.Values.float',
      '.Values.str',
      '.Values.nil',
      '.Values.nope',
      '.Values.nope.deeper',
      '.Values.list',
      '.Values.words',
      '.Values.map',
      '.Values.map.m.deep',
      '.Values.nothing',
      '.Release.Name',
      '.Chart.Version',
      '$x',
      '$.Values.yes',
      '.a',
      '(.Values.map).b',
      '(.Values.nope).b',
      '$.Values.map.n.x',
      '$x.a',
      '(index .Values.list 0).x',
      '.Values.str.x',
      '$undefined',
    ),
    operand: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('literal'),
      tie('field'),
      expression.map((inner) => `(${inner})`),
    ),
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      operand,
      spaced(called(unary), operand),
      spaced(called(binary), operand, operand),
      spaced(called(ternary), operand, operand, operand),
      fc
        .tuple(fc.constantFrom(...flags), fc.constantFrom(...verbs), operand, operand)
        .map(([flag, verb, one, two]) => `printf "%${flag}${verb}|%v" ${one} ${two}`),
      fc.tuple(expression, fc.constantFrom('a', 'b', 'deep', 'Name')).map(([inner, name]) => `(${inner}).${name}`),
      fc.tuple(fc.constantFrom(...documents), fc.constantFrom(...readers)).map(([text, read]) => read + text),
      fc.constantFrom('fromToml "a = 1979-05-27\\nb = 1.0"', 'fromToml "[t]\\na = 07:32:00\\nb = [1, 2]" | toToml'),
    ),
    pipeline: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      expression,
      fc.tuple(expression, called(unary)).map(([first, then]) => `${first} | ${then}`),
      fc.tuple(expression, called(binary), operand).map(([first, then, more]) => `${first} | ${then} ${more}`),
    ),
    text: fc.constantFrom('', ' ', '\n', 'text', ' a: b\n', '  \n  ', '}', '{', 'é'),
    block: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      action(pipeline),
      action(
        fc.constantFrom(
          '/* said */',
          '$x := 1',
          '$x = 2',
          'break',
          'continue',
          'end',
          'else',
          'template "h" .',
          'include "h" .',
        ),
      ),
      action(pipeline.map((value) => `$x := ${value}`)),
      fc.tuple(pipeline, body, body).map(([test, yes, no]) => `{{ if ${test} }}${yes}{{ else }}${no}{{ end }}`),
      fc
        .tuple(pipeline, pipeline, body)
        .map(([one, two, yes]) => `{{ if ${one} }}1{{ else if ${two} -}} ${yes}{{ end }}`),
      fc
        .tuple(pipeline, body, body)
        .map(([value, inner, no]) => `{{ with ${value} }}${inner}{{ . }}{{ else }}${no}{{ end }}`),
      fc
        .tuple(pipeline, body, body)
        .map(([value, inner, no]) => `{{ range ${value} }}${inner}{{ . }}{{ else }}${no}{{ end }}`),
      fc
        .tuple(pipeline, pipeline, body, body)
        .map(([one, two, yes, no]) => `{{ with $x := ${one} }}${yes}{{ else with ${two} }}${no}{{ end }}{{ $x }}`),
      fc
        .tuple(fc.constantFrom('range 3', 'range $x = 2', 'range $i, $x = list 1 "a" nil'), body, trimLeft, body)
        .map(
          ([loop, one, left, two]) => `{{ ${loop} }}${one}{{ if eq . 1 }}${left}continue }}{{ end }}${two}{{ end }}`,
        ),
      fc
        .tuple(operand, body, fc.constantFrom('break', 'continue'), trimRight)
        .map(
          ([value, inner, word, right]) => `{{ range . }}{{ if ${value} }}{{ ${word}${right}{{ end }}${inner}{{ end }}`,
        ),
      fc
        .tuple(fc.constantFrom('b', 'd'), operand, body)
        .map(([name, value, inner]) => `{{- block "${name}" ${value} -}} ${inner}{{ $ }}{{ end }}`),
      fc
        .tuple(body, operand)
        .map(([inner, value]) => `{{ define "d" }}${inner}{{ end }}{{ include "d" ${value} | printf "%q" }}`),
      fc
        .tuple(fc.constantFrom('$', '.', 'dict'), operand)
        .map(
          ([data, value]) =>
            `{{ $ := ${data} }}{{ $ }}{{ $.Values }}{{ tpl "{{ $x := 1 }}{{ . }}{{ $x }}" (${value}) }}`,
        ),
      fc
        .tuple(fc.constantFrom('if', 'with', 'range', 'define "x"'), pipeline, body)
        .map(([word, value, inner]) => `{{ ${word} ${value}\n}}${inner}`),
      fc
        .tuple(pipeline, body)
        .map(([value, inner]) => `{{ range $i, $x := ${value} }}{{ $i }}${inner}{{ $x }}{{ end }}`),
      fc.tuple(body, pipeline).map(([inner, value]) => `{{ define "d" }}${inner}{{ end }}{{ template "d" ${value} }}`),
      pipeline.map((value) => `{{ tpl (printf "{{ %s }}" ${JSON.stringify(value)}) . }}`),
    ),
    body: fc.array(fc.oneof(tie('text'), tie('block')), { maxLength: 3 }).map((parts) => parts.join('')),
    template: fc
      .array(fc.oneof(tie('text'), tie('block')), { minLength: 1, maxLength: 4 })
      .map((parts) => `{{ $x := "x" }}${parts.join('')}`),
  };
});

/** What is about this build of Helm alone: where something lies in memory, the version of Go, which of several complaints comes first. */
function isBuild({ output }: Answer): boolean {
  return /0x[0-9a-f]{8,}|go_version|\bgo1\.\d|toml: ?cannot ?encode/.test(
    Buffer.from(output ?? '', 'base64').toString(),
  );
}

/** What Go leaves to chance, and what lets Helm itself fill the memory when its argument is a large number. */
const chance = /\b(keys|values|pluck|unixEpoch|toDate|shuffle|repeat|until|untilStep|seq|n?indent)\b/;

it.runIf(inLane && oracle.available)(
  'random templates come to the same in Helm and here, or fail in both',
  { timeout: 600_000 },
  async () => {
    const snippets: Snippet[] = fc
      .sample(template!, { numRuns: runs, seed })
      .filter((text) => !chance.test(text))
      .map((text) => ({ template: text }));
    const answers = askHelm(oracle.available ? oracle.path : '', snippets);
    const differences: string[] = [];
    let rendered = 0;
    let failed = 0;
    let sameComplaint = 0;
    for (const [index, snippet] of snippets.entries()) {
      const theirs = answers[index]!;
      const mine = await ours(snippet);
      if (theirs.error !== undefined && mine.error !== undefined) {
        failed += 1;
        if (theirs.error === mine.error) sameComplaint += 1;
        else if (shownComplaints-- > 0)
          process.stdout.write(`${snippet.template}\n  helm: ${shown(theirs)}\n  ours: ${shown(mine)}\n`);
        continue;
      }
      if (isBuild(theirs)) continue;
      rendered += 1;
      if (theirs.error !== undefined || mine.error !== undefined || (theirs.output ?? '') !== mine.output)
        differences.push(`${snippet.template}\n  helm: ${shown(theirs)}\n  ours: ${shown(mine)}`);
    }
    process.stdout.write(
      `${snippets.length} random templates (seed ${seed}): ${rendered} rendered, ${differences.length} differ, ${failed} fail in both, ${sameComplaint} of them with the same words\n`,
    );
    expect(differences).toEqual([]);
    expect(rendered).toBeGreaterThan(snippets.length / 20);
    expect(sameComplaint / failed).toBeGreaterThan(0.98);
  },
);
