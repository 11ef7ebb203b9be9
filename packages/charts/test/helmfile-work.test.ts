import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigMap, Secret } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  applyReleases,
  destroyReleases,
  diffReleases,
  loadHelmfile,
  ReleaseStorage,
  type Helmfile,
  type ReleaseContext,
  type ReleaseOutcome,
} from '../src/index.ts';

const chart = {
  'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
  'chart/values.yaml': 'text: hello\npassword: hunter2\n',
  'chart/templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  text: {{ .Values.text | quote }}\n',
  'chart/templates/secret.yaml':
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}\nstringData:\n  password: {{ .Values.password }}\n',
};

const state = (extra = '') => `releases:
  - name: last
    namespace: one
    chart: ./chart
    needs: [two/first]
    values: [{text: from last}]
  - name: first
    namespace: two
    chart: ./chart
${extra}`;

let folder: string;
let cluster: TestCluster;
let context: ReleaseContext;
let phases: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-helmfile-'));
  await write(chart);
  cluster = await testCluster();
  phases = [];
  context = {
    client: cluster.client,
    clock: cluster.clock,
    progress: (event) => {
      if (event.type === 'phase') phases.push(event.text);
    },
  };
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

async function load(text: string, selectors: readonly string[] = []): Promise<Helmfile> {
  await write({ 'helmfile.yaml': text });
  return await loadHelmfile({ cwd: folder, selectors });
}

function told(outcomes: readonly ReleaseOutcome[]): string[] {
  return outcomes.map(({ release, action, revision }) => `${action} ${release.name} ${revision ?? '-'}`);
}

async function textIn(namespace: string, name: string): Promise<string | undefined> {
  return (await cluster.client.get(ConfigMap, { namespace, name }))?.data?.text;
}

describe('sync', () => {
  it('installs what others need first, and upgrades everything the second time', async () => {
    const helmfile = await load(state());
    expect(told(await helmfile.syncReleases(context))).toEqual(['installed first 1', 'installed last 1']);
    expect(phases).toEqual(['installing first', 'installing last']);
    expect(await textIn('one', 'last')).toBe('from last');
    expect(told(await helmfile.syncReleases(context))).toEqual(['upgraded first 2', 'upgraded last 2']);
  });

  it('removes releases that are not to be installed, and passes over those that are not there', async () => {
    await (await load(state())).syncReleases(context);
    const off = await load(state('    installed: false\n  - name: never\n    chart: ./chart\n    installed: false\n'));
    expect(told(await off.syncReleases(context))).toEqual(['uninstalled first -', 'upgraded last 2']);
    expect(await textIn('two', 'first')).toBeUndefined();
  });

  it('works only on what the selectors take, unless it is told to include or to require what that needs', async () => {
    const helmfile = await load(state(), ['name=last']);
    await expect(helmfile.syncReleases(context, { needs: 'require' })).rejects.toThrow(
      /needs "two\/first", which the selectors do not take/,
    );
    expect(told(await helmfile.syncReleases(context))).toEqual(['installed last 1']);
    expect(told(await helmfile.syncReleases(context, { needs: 'include' }))).toEqual([
      'installed first 1',
      'upgraded last 2',
    ]);
  });

  it('keeps as many revisions as helmDefaults say', async () => {
    const helmfile = await load(`helmDefaults: {historyMax: 2}\n${state()}`, ['name=first']);
    for (let time = 0; time < 4; time += 1) await helmfile.syncReleases(context);
    const history = await new ReleaseStorage(cluster.client, () => cluster.clock.now()).history('two', 'first');
    expect(history.map(({ release }) => release.revision)).toEqual([3, 4]);
  });

  it('reuses the last values when it is told to', async () => {
    await (await load(state('    values: [{text: old}]\n'), ['name=first'])).syncReleases(context);
    const helmfile = await load(state('    values: [{password: new}]\n'), ['name=first']);
    await helmfile.syncReleases(context, { reuseValues: true });
    expect(await textIn('two', 'first')).toBe('old');
    await helmfile.syncReleases(context);
    expect(await textIn('two', 'first')).toBe('hello');
  });

  it('refuses releases of another cluster before it touches anything', async () => {
    const helmfile = await load(state('    kubeContext: elsewhere\n').replace('two/first', 'elsewhere/two/first'));
    await expect(helmfile.syncReleases(context)).rejects.toThrow(
      /"first" belongs to the cluster of kubeContext "elsewhere"/,
    );
    const elsewhere = state('    kubeContext: elsewhere\n').replace('two/first', 'elsewhere/two/first');
    const needing = await load(elsewhere, ['name=last']);
    await expect(needing.syncReleases(context, { needs: 'include' })).rejects.toThrow(/kubeContext "elsewhere"/);
    expect(await textIn('one', 'last')).toBeUndefined();
    expect(told(await needing.syncReleases(context, { needs: 'include', kubeContext: 'elsewhere' }))).toHaveLength(2);
  });

  const five = `releases:
  - {name: one, chart: ./chart}
  - {name: two, chart: ./chart, needs: [one]}
  - {name: taken, chart: ./chart, needs: [one]}
  - {name: four, chart: ./chart, needs: [one]}
  - {name: five, chart: ./chart, needs: [taken]}
`;
  const taken = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'taken' } };

  it('does the others when one fails, but not what comes after, says so, and goes on when it is run again', async () => {
    await cluster.client.create(taken);
    const helmfile = await load(five);
    const outcomes: ReleaseOutcome[] = [];
    const onOutcome = (outcome: ReleaseOutcome) => void outcomes.push(outcome);
    await expect(helmfile.syncReleases(context, { onOutcome })).rejects.toMatchObject({
      message: expect.stringMatching(/^release taken in default: /) as string,
      hint: expect.stringContaining('not begun: five; run it again') as string,
    });
    expect(told(outcomes)).toEqual(['installed one 1', 'installed two 1', 'installed four 1']);
    expect(await textIn('default', 'five')).toBeUndefined();

    await cluster.client.delete(ConfigMap, { namespace: 'default', name: 'taken' });
    expect(told(await applyReleases(helmfile, context)).sort()).toEqual([
      'installed five 1',
      'installed taken 1',
      'unchanged four -',
      'unchanged one -',
      'unchanged two -',
    ]);
  });

  it('says which release a chart of several does not render for, and what was left because of it', async () => {
    await write({ 'chart/templates/asks.yaml': '{{ if eq .Release.Name "taken" }}{{ fail "no" }}{{ end }}' });
    const helmfile = await load(five);
    await expect(helmfile.syncReleases(context)).rejects.toMatchObject({
      code: 'TemplateFailed',
      message: expect.stringMatching(/^release taken in default: execution error at .* no$/s) as string,
      hint: expect.stringContaining('; not begun: five; run it again') as string,
    });
    await expect(diffReleases(helmfile, context)).rejects.toThrow(/^release taken: execution error at /);
  });

  it('takes no offence at releases of another cluster that a condition disables', async () => {
    const text = `values: [{far: {enabled: false}}]\n${five}`;
    const helmfile = await load(
      `${text}  - {name: six, chart: ./chart, kubeContext: elsewhere, condition: far.enabled}\n`,
    );
    expect(await helmfile.syncReleases(context)).toHaveLength(5);
  });

  it('names all that failed', async () => {
    await cluster.client.create(taken);
    await cluster.client.create({ ...taken, metadata: { ...taken.metadata, name: 'four' } });
    await expect((await load(five)).syncReleases(context)).rejects.toThrow(
      /^2 releases failed:\nrelease taken in default: .*\nrelease four in default: /,
    );
  });

  it('ends when it is interrupted, says how far it came, and goes on when it is run again', async () => {
    const again = ['installed', 'upgraded'];
    /** What was begun is named by the message. */
    const left = (outcomes: readonly ReleaseOutcome[]) =>
      outcomes.length < 3 ? /not begun: .*five; run it again$/ : /^/;
    let isThrough = false;
    for (let events = 1; !isThrough; events += 4) {
      const helmfile = await load(five.replaceAll('{name: ', `{namespace: n${events}, name: `));
      const stop = new AbortController();
      let seen = 0;
      const interrupted = {
        ...context,
        signal: stop.signal,
        progress: () => {
          seen += 1;
          if (seen === events) stop.abort();
        },
      };
      const outcomes: ReleaseOutcome[] = [];
      const onOutcome = (outcome: ReleaseOutcome) => void outcomes.push(outcome);
      const failure = await helmfile.syncReleases(interrupted, { concurrency: 2, onOutcome }).then(
        () => undefined,
        (error: unknown) => error,
      );
      isThrough = !stop.signal.aborted;
      if (!isThrough && outcomes.length < 5)
        expect(failure).toMatchObject({ code: 'Interrupted', hint: expect.stringMatching(left(outcomes)) as string });
      const second = await helmfile.syncReleases(context);
      expect(second.map(({ action }) => again.includes(action))).toEqual(Array(5).fill(true));
      expect((await diffReleases(helmfile, context)).map(({ action }) => action)).toEqual(Array(5).fill('none'));
      expect(await textIn(`n${events}`, 'five')).toBe('hello');
    }
  });

  it('changes nothing when a chart or the values of one release are wrong', async () => {
    await expect((await load(`${five}  - {name: six, chart: ./none}\n`)).syncReleases(context)).rejects.toThrow(
      /chart \.\/none of release "six" does not exist/,
    );
    const wrong = five.replace('needs: [taken]', 'values: [none.yaml]');
    await expect((await load(wrong)).syncReleases(context)).rejects.toThrow(/none\.yaml does not exist/);
    const unnamed = `${five}  - {name: Six, chart: ./shop}\n`;
    await expect((await load(unnamed)).syncReleases(context)).rejects.toThrow(/'Six' cannot be the name of a release/);
    expect(await textIn('default', 'one')).toBeUndefined();
  });
});

describe('diff and apply', () => {
  it('show what would change, object by object, and hide secrets', async () => {
    await (await load(state())).syncReleases(context);
    const changed = await load(state('    values: [{text: other, password: 12345secret}]\n'));
    const differences = await diffReleases(changed, context);
    expect(differences.map(({ release, action }) => `${release.name} ${action}`)).toEqual([
      'first upgrade',
      'last none',
    ]);
    const [config, secret] = differences[0]!.objects.toSorted((a, b) => (a.object < b.object ? -1 : 1));
    expect(config).toMatchObject({ object: 'ConfigMap two/first (v1)', change: 'changed' });
    expect(config!.lines.filter(({ sign }) => sign !== ' ')).toEqual([
      { sign: '-', text: '  text: hello' },
      { sign: '+', text: '  text: other' },
    ]);
    expect(secret).toMatchObject({ object: 'Secret two/first (v1)', change: 'changed' });
    expect(JSON.stringify(differences[0]!.objects)).not.toMatch(/hunter2|12345secret/);
  });

  it('end when they are interrupted', async () => {
    const stopped = { ...context, signal: AbortSignal.abort() };
    for (const work of [diffReleases, applyReleases])
      await expect(work(await load(state()), stopped)).rejects.toMatchObject({
        code: 'Interrupted',
        message: 'interrupted before anything was changed',
      });
  });

  it('write nothing for a diff, and only what differs for an apply', async () => {
    const helmfile = await load(state());
    expect((await diffReleases(helmfile, context)).map(({ action }) => action)).toEqual(['install', 'install']);
    expect(await cluster.client.get(Secret, { namespace: 'two', name: 'first' })).toBeUndefined();
    expect(told(await applyReleases(helmfile, context))).toEqual(['installed first 1', 'installed last 1']);
    expect(told(await applyReleases(helmfile, context))).toEqual(['unchanged first -', 'unchanged last -']);
    const changed = await load(state('    values: [{text: other}]\n'));
    expect(told(await applyReleases(changed, context))).toEqual(['upgraded first 2', 'unchanged last -']);
    const off = await load(state('    installed: false\n'));
    expect(told(await applyReleases(off, context))).toEqual(['uninstalled first -', 'unchanged last -']);
  });
});

describe('destroy', () => {
  it('removes everything in the opposite order, and nothing the second time', async () => {
    const helmfile = await load(state());
    await helmfile.syncReleases(context);
    expect(told(await destroyReleases(helmfile, context))).toEqual(['uninstalled last -', 'uninstalled first -']);
    expect(await textIn('one', 'last')).toBeUndefined();
    expect(told(await destroyReleases(helmfile, context))).toEqual([]);
  });

  it('removes only what the selectors take, whatever that needs', async () => {
    await (await load(state())).syncReleases(context);
    const one = await load(state(), ['name=last']);
    expect(told(await destroyReleases(one, context))).toEqual(['uninstalled last -']);
    expect(await textIn('two', 'first')).toBe('hello');
  });
});
