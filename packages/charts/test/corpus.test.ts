import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bytesToText } from '../src/go/bytes.ts';
import { fromPlain, isMap, toPlain, type GoMap, type Value } from '../src/go/values.ts';
import { checkInstallable, loadChart, readValuesText, renderChart, templateOutput, writeYaml } from '../src/index.ts';
import { readYaml } from '../src/yaml/read.ts';

/**
 * Public charts, rendered by Helm and by us: byte for byte, but for what is random. The folder named by CHART_CORPUS holds
 * charts at any depth and is never committed; MUTATIONS says how many changed sets of values to try (default 100). Where only
 * the bytes differ and not the objects, the difference is listed; anything else is a failure.
 */
const corpus = process.env['CHART_CORPUS'];
const mutations = Number(process.env['MUTATIONS'] ?? 100);
const binaries = corpus ? await ensureReferenceBinaries({ tools: ['helm'], build: false }) : undefined;
const helm = binaries?.available ? binaries.helm : undefined;
if (!corpus) process.stdout.write('SKIPPED public charts against Helm: CHART_CORPUS names no folder\n');
else if (!helm)
  process.stdout.write('SKIPPED public charts against Helm: helm is not built (npm run reference:build)\n');
const runs = corpus !== undefined && helm !== undefined;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-corpus-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function chartsBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  // What is inside a chart is part of it.
  if (entries.some(({ name }) => name === 'Chart.yaml')) return [path];
  const found = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => chartsBelow(join(path, entry.name))),
  );
  return found.flat().sort();
}

async function ciValues(chart: string): Promise<string[]> {
  const names = await readdir(join(chart, 'ci')).catch(() => []);
  return names.filter((name) => /values\.ya?ml$/.test(name)).map((name) => join(chart, 'ci', name));
}

interface Outcome {
  readonly text?: string;
  readonly error?: string;
}

function byHelm(chart: string, values: string | undefined): Outcome {
  const args = ['template', 'release-name', chart, '--include-crds', ...(values ? ['-f', values] : [])];
  const { status, stdout, stderr } = spawnSync(helm!, args, { maxBuffer: 1 << 30 });
  return status === 0 ? { text: bytesToText(stdout) } : { error: stderr.toString().trim() };
}

async function byUs(chart: string, values: string | undefined): Promise<Outcome> {
  try {
    const loaded = await loadChart(chart);
    checkInstallable(loaded);
    const given = values ? readValuesText(await readFile(values, 'utf8')) : {};
    const rendered = await renderChart(loaded, { release: { name: 'release-name' }, values: given });
    return { text: templateOutput(rendered, { includeCrds: true }) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** `cosmetic`: other bytes, the same objects in the same order. */
type Verdict = 'equal' | 'random' | 'cosmetic' | 'both fail' | 'differ';

async function compare(chart: string, values: string | undefined): Promise<{ verdict: Verdict; detail: string }> {
  const theirs = byHelm(chart, values);
  const ours = await byUs(chart, values);
  if (theirs.error !== undefined || ours.error !== undefined) {
    // A bound of ours is no reason that Helm shares.
    const both = theirs.error !== undefined && ours.error !== undefined && !/ more than \d+ /.test(ours.error);
    return {
      verdict: both ? 'both fail' : 'differ',
      detail: `helm: ${theirs.error ?? 'ok'}\nours: ${ours.error ?? 'ok'}`,
    };
  }
  if (theirs.text === ours.text) return { verdict: 'equal', detail: '' };
  // What differs between two runs of ours is chance, or the clock.
  const again = await byUs(chart, values);
  const mine = ours.text!.split('\n');
  const second = again.text?.split('\n') ?? [];
  const helms = theirs.text!.split('\n');
  const at = mine.findIndex(
    (line, index) => line !== helms[index] && line === second[index] && !isClock(line, helms[index]),
  );
  if (mine.length === helms.length && at < 0) return { verdict: 'random', detail: '' };
  const detail = `line ${at + 1}\nhelm: ${helms[at]}\nours: ${mine[at]}`;
  return { verdict: sameObjects(theirs.text!, ours.text!) ? 'cosmetic' : 'differ', detail };
}

/** Whether two texts hold the same objects in the same order; keys of maps have none. */
function sameObjects(theirs: string, ours: string): boolean {
  const objects = (text: string) =>
    text
      .split(/^---$/m)
      .filter((document) => document.trim() !== '')
      .map((document) => toPlain(readYaml(document)));
  return isDeepStrictEqual(objects(theirs), objects(ours));
}

/** Two runs of ours may fall into one second, Helm's into another. */
function isClock(ours: string, theirs: string | undefined): boolean {
  const decoded = (line: string) =>
    line.replace(/[A-Za-z0-9+/]{16,}={0,2}/g, (text) => Buffer.from(text, 'base64').toString('utf8'));
  const blank = (line: string) =>
    decoded(line)
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/g, 'TIME')
      .replace(/\b1[789]\d{8}\b/g, 'TIME');
  return theirs !== undefined && blank(ours) === blank(theirs);
}

async function compareAll(
  cases: AsyncIterable<[name: string, chart: string, values: string | undefined]>,
): Promise<void> {
  const charts = new Set<string>();
  const counts: Record<Verdict, number> = { equal: 0, random: 0, cosmetic: 0, 'both fail': 0, differ: 0 };
  const differences: string[] = [];
  const cosmetic: string[] = [];
  for await (const [name, chart, values] of cases) {
    const { verdict, detail } = await compare(chart, values);
    counts[verdict] += 1;
    charts.add(chart);
    if (verdict === 'differ') differences.push(`${name}\n${detail}`);
    if (verdict === 'cosmetic') cosmetic.push(`${name}\n${detail}`);
  }
  process.stdout.write(`${charts.size} public charts: ${JSON.stringify(counts)}\n`);
  process.stdout.write(`cosmetic differences: ${cosmetic.length === 0 ? 'none' : `\n${cosmetic.join('\n')}`}\n`);
  expect(differences).toEqual([]);
  expect(counts.equal + counts.random).toBeGreaterThan(0);
}

it.runIf(runs)(
  'renders public charts as Helm does, with defaults and their CI values',
  { timeout: 3_600_000 },
  async () => {
    await compareAll(
      (async function* () {
        for (const chart of await chartsBelow(corpus!)) {
          yield [chart, chart, undefined];
          for (const values of await ciValues(chart)) yield [values, chart, values];
        }
      })(),
    );
  },
);

it.runIf(runs)('renders them as Helm does when values are changed at random', { timeout: 3_600_000 }, async () => {
  await compareAll(
    (async function* () {
      const charts = await chartsBelow(corpus!);
      for (let seed = 1; seed <= mutations; seed += 1) {
        const chart = charts[(seed * 7919) % charts.length]!;
        const loaded = await loadChart(chart).catch(() => undefined);
        if (!loaded) continue;
        const path = join(folder, `values-${seed}.yaml`);
        await writeFile(path, writeYaml(mutated(fromPlain(toPlain(loaded.values)) as GoMap, seed)));
        yield [`${chart} with seed ${seed}`, chart, path];
      }
    })(),
  );
});

/** Flips, fills, empties and nulls a few values: what people do to charts. */
function mutated(values: GoMap, seed: number): GoMap {
  let state = seed;
  const next = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % limit;
  };
  const places: [GoMap, string][] = [];
  const visit = (map: GoMap): void => {
    for (const [key, value] of map) {
      places.push([map, key]);
      if (isMap(value)) visit(value);
    }
  };
  visit(values);
  // A few at a time: a chart refuses most of what is changed everywhere.
  for (let count = 1 + next(4); count > 0 && places.length > 0; count -= 1) {
    const [map, key] = places[next(places.length)]!;
    map.set(key, changed(map.get(key), next));
  }
  return values;
}

function changed(value: Value, next: (limit: number) => number): Value {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return [0, value + 1, 1_000_000, -1][next(4)];
  if (typeof value === 'string') return ['', 'changed', 'a: b #c', '{{ .Release.Name }}', null][next(5)];
  if (Array.isArray(value)) return next(2) === 0 ? [] : ['one'];
  if (isMap(value)) return next(2) === 0 ? new Map() : new Map<string, Value>([['added', 'yes']]);
  return 'filled';
}
