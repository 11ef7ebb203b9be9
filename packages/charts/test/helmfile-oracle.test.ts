import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { systemClock, type Command } from '@slipway/kube';
import { CommandError } from '@slipway/kube/command';
import { oracleInLane } from '@slipway/oracles';
import { ensureReferenceBinaries } from '@slipway/reference-cluster';
import { callCommand } from '@slipway/testing/command';
import { afterAll, describe, expect, it } from 'vitest';
import { command } from '../src/command/helmfile-command.ts';
import { helmfileFunctions, type ExecProgram } from '../src/helmfile/functions.ts';
import { stateFields, type Fields } from '../src/helmfile/state-schema.ts';
import { helmFunctions } from '../src/functions/index.ts';
import { buildText } from '../src/helmfile/build.ts';
import { loadHelmfile, writeYaml, type Helmfile } from '../src/index.ts';
import { templateOutput } from '../src/render/template-output.ts';
import { helmfileRules, type HelmfileRule } from './helmfile-rules.ts';

/** The real helmfile, which forks the real helm, on a tree that uses every feature we support. */
const oracle = await oracleInLane('helmfile');
const binaries = await ensureReferenceBinaries({ build: false });
const helm = binaries.available ? binaries.helm : undefined;
const missing = oracle.available ? (helm === undefined ? 'no helm binary' : undefined) : oracle.reason;
if (missing !== undefined) process.stdout.write(`SKIPPED helmfile against the real one: ${missing}\n`);

const tree = join(import.meta.dirname, 'helmfile-tree');
const states = join(tree, 'helmfile.d');
const variables = { IMAGE_TAG: 'v7' };
const scratch = mkdtempSync(join(tmpdir(), 'slipway-helmfile-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function helmfile(...args: string[]): string {
  return runHelmfile(['--file', states, '--sequential-helmfiles', ...args]);
}

function runHelmfile(args: readonly string[], cwd?: string): string {
  const { stdout, stderr, status } = spawnSync(oracle.available ? oracle.path : '', args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...variables, PATH: `${dirname(helm!)}${delimiter}${process.env.PATH}`, HOME: scratch },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new ProgramFailed(stderr);
  return stdout;
}

class ProgramFailed extends Error {}

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

/** helmfile writes the paths of files as it came to them, and where it works on a copy of a chart. */
function withoutDirectories(text: string): string {
  return text
    .replaceAll(/^( *)(#  Source|filepath|- path): .*\/(?=[^/]+$)/gm, '$1$2: ')
    .replaceAll(/^ *chartPath: .*\n/gm, '');
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

const showing = {
  'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
  'chart/templates/values.yaml': `apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}" }
data:
  values: {{ .Values | toJson | quote }}
`,
};

function writeTree(rule: HelmfileRule): string {
  const folder = mkdtempSync(join(scratch, 'rule-'));
  for (const [name, text] of Object.entries({ ...showing, ...rule.files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** What each command answers, and what `write-values` writes; `refused` where it fails in a way it should. */
async function answersOf(
  written: string,
  ask: (name: string) => string | Promise<string>,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const name of ['build', 'write-values', 'template']) {
    try {
      answers[name] = withoutDirectories(await ask(name));
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof ProgramFailed)) throw error;
      answers[name] = 'refused';
    }
  }
  const files = existsSync(written) ? readdirSync(written) : [];
  return { ...answers, values: files.map((file) => [file, readFileSync(join(written, file), 'utf8')]) };
}

const valuesFile = '{{ .Release.Namespace }}-{{ .Release.Name }}.yaml';

async function theirAnswers(rule: HelmfileRule, folder: string): Promise<Record<string, unknown>> {
  const flags = [
    `--environment=${rule.environment ?? 'default'}`,
    ...(rule.selectors ?? []).flatMap((selector) => ['--selector', selector]),
    ...(rule.stateValuesFiles ?? []).flatMap((file) => ['--state-values-file', file]),
    ...(rule.stateValuesSet ?? []).flatMap((text) => ['--state-values-set', text]),
  ];
  const written = join(folder, 'theirs');
  const own: Record<string, string[]> = {
    template: ['--skip-deps', ...(rule.includeNeeds ? ['--include-needs'] : [])],
    'write-values': ['--output-file-template', join(written, valuesFile)],
  };
  return await answersOf(written, (name) => runHelmfile([...flags, name, ...(own[name] ?? [])], folder));
}

async function ourAnswers(rule: HelmfileRule, folder: string): Promise<Record<string, unknown>> {
  const flags = {
    environment: rule.environment ?? 'default',
    selector: rule.selectors ?? [],
    'state-values-file': rule.stateValuesFiles ?? [],
    'state-values-set': rule.stateValuesSet ?? [],
  };
  const written = join(folder, 'ours');
  const own: Record<string, object> = {
    template: { 'include-needs': rule.includeNeeds ?? false },
    'write-values': { 'output-file-template': join(written, valuesFile) },
  };
  const place = { cwd: folder, clock: systemClock, env: { ...variables, HOME: scratch } };
  return await answersOf(
    written,
    async (name) => (await callCommand(command as Command, name, [], { ...flags, ...own[name] }, place)).out,
  );
}

describe.runIf(missing === undefined)('helmfile and our commands agree on', { timeout: 60_000 }, () => {
  it.each(helmfileRules.map((rule) => [rule.name, rule] as const))('%s', async (_, rule) => {
    const folder = writeTree(rule);
    expect(await ourAnswers(rule, folder)).toEqual(await theirAnswers(rule, folder));
  });
});
