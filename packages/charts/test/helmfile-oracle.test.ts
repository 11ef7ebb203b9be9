import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { helmfileFunctions, type ExecProgram } from '../src/helmfile/functions.ts';
import { stateFields, type Fields } from '../src/helmfile/state-schema.ts';
import { helmFunctions } from '../src/functions/index.ts';
import { buildText } from '../src/helmfile/build.ts';
import { loadHelmfile, writeYaml, type Helmfile } from '../src/index.ts';
import { templateOutput } from '../src/render/template-output.ts';
import { ourAnswers, theirAnswers, withoutDirectories, writeTree } from './helmfile-answers.ts';
import { helmfileRules } from './helmfile-rules.ts';
import { findHelmfile, variables } from './real-helmfile.ts';

/** The real helmfile on a tree that uses every feature we support, and on small ones that ask one question each. */
const real = await findHelmfile();
const { missing } = real;
if (missing !== undefined) process.stdout.write(`SKIPPED helmfile against the real one: ${missing}\n`);

const tree = join(import.meta.dirname, 'helmfile-tree');
const states = join(tree, 'helmfile.d');
const scratch = mkdtempSync(join(tmpdir(), 'slipway-helmfile-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function helmfile(...args: string[]): string {
  return real.run(['--file', states, '--sequential-helmfiles', ...args], { home: scratch });
}

async function ours(environment: string, selectors: readonly string[] = []): Promise<Helmfile> {
  return await loadHelmfile({
    cwd: tree,
    path: 'helmfile.d',
    env: variables,
    environment,
    selectors,
    exec: runProgram,
  });
}

function runProgram({ command, args, env }: Parameters<ExecProgram>[0]): string {
  const { stdout, stderr, status } = spawnSync(command, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** What the states, their bases and their values say, without the charts. */
function textOfTree(folder = tree): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'charts')
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? textOfTree(path) : readFileSync(path, 'utf8');
    })
    .join('\n');
}

/** The keys that are accepted, by their places. Those of a template are those of a release. */
function* acceptedKeys(fields: Fields, place = ''): Generator<string> {
  for (const [key, field] of Object.entries(fields)) {
    if (field.type === 'refused') continue;
    yield `${place}${key}`;
    if (field.fields && key !== 'templates') yield* acceptedKeys(field.fields, `${place}${key}.`);
  }
}

describe('the tree that is compared', () => {
  const text = textOfTree();

  it('uses every key that we accept', () => {
    const isUsed = (place: string) => new RegExp(`(?:^|[\\s{,])${place.split('.').at(-1)}:`, 'm').test(text);
    expect([...acceptedKeys(stateFields)].filter((place) => !isUsed(place))).toEqual([]);
  });

  it('uses every function that Helm does not have or means otherwise', () => {
    const own = [...helmfileFunctions].filter(([name, called]) => helmFunctions.get(name) !== called);
    const isUsed = (name: string) => new RegExp(`[^.\\w]${name} `).test(text);
    const refused = ['fetchSecretValue', 'expandSecretRefs', 'getHostByName'];
    expect(own.map(([name]) => name).filter((name) => !isUsed(name) && !refused.includes(name))).toEqual([]);
  });
});

const selections = [[], ['area=apps'], ['name=db', 'name=plain'], ['tier!=db-tier,area=apps'], ['name=off']];

describe.runIf(missing === undefined)('helmfile and ours', { timeout: 300_000 }, () => {
  for (const environment of ['default', 'prod']) {
    it(`list the same releases in environment ${environment}, whatever the selectors`, async () => {
      for (const selectors of selections) {
        const flags = selectors.flatMap((selector) => ['--selector', selector]);
        const theirs: unknown = JSON.parse(
          helmfile('--environment', environment, ...flags, 'list', '--output', 'json'),
        );
        const mine = (await ours(environment, selectors)).listReleases();
        expect(mine, `${environment} ${selectors.join(' ')}`).toEqual(theirs ?? []);
      }
    });

    it(`write the same values in environment ${environment}`, async () => {
      const target = join(scratch, environment);
      const name = join(target, '{{ .Release.Namespace }}-{{ .Release.Name }}.yaml');
      helmfile('--environment', environment, 'write-values', '--output-file-template', name);
      const loaded = await ours(environment);
      const mine = loaded.releases
        .filter(({ installed, enabled }) => installed && enabled)
        .map((release) => [
          `${release.namespace}-${release.name}.yaml`,
          writeYaml(loaded.valuesOf(release), { dialect: 'v3' }),
        ]);
      const theirs = readdirSync(target).map((file) => [file, readFileSync(join(target, file), 'utf8')]);
      expect(Object.fromEntries(mine)).toEqual(Object.fromEntries(theirs));
    });

    it(`build the same states in environment ${environment}`, async () => {
      const theirs = helmfile('--environment', environment, 'build');
      const { states } = await ours(environment);
      const mine = states.map(({ state, releases }) => buildText(state, releases)).join('');
      expect(withoutDirectories(mine)).toBe(withoutDirectories(theirs));
    });

    it(`render the same manifests in environment ${environment}`, async () => {
      const variants = [
        { flags: [], options: {} },
        { flags: ['--include-crds', '--skip-tests'], options: { includeCrds: true, skipTests: true } },
      ];
      for (const { flags, options } of variants) {
        const theirs = helmfile('--environment', environment, 'template', '--skip-deps', ...flags);
        const loaded = await ours(environment);
        const mine: string[] = [];
        for (const release of loaded.plan().filter(({ installed }) => installed))
          mine.push(`${templateOutput(await loaded.renderRelease(release), options)}\n`);
        expect(mine.join('')).toBe(theirs);
      }
    });
  }
});

describe.runIf(missing === undefined)('helmfile and our commands agree on', { timeout: 60_000 }, () => {
  it.each(helmfileRules.map((rule) => [rule.name, rule] as const))('%s', async (_, rule) => {
    const folder = writeTree(rule, scratch);
    expect(await ourAnswers(rule, folder)).toEqual(await theirAnswers(rule, folder, real));
  });
});
