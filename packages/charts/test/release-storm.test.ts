import {
  type Clock,
  ConfigMap,
  createClient,
  KubeError,
  type KubeObject,
  Secret,
  sleep,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@slipway/kube';
import {
  KillableTransport,
  onReference,
  SeededRandom,
  skipped,
  stormSeeds,
  testCluster,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import {
  type Chart,
  installRelease,
  loadFiles,
  type Release,
  type ReleaseContext,
  ReleaseError,
  ReleaseStorage,
  rollbackRelease,
  uninstallRelease,
  upgradeRelease,
} from '../src/index.ts';

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'values.yaml': 'members: {base: "0"}\n',
  'templates/members.yaml': `{{- range $name, $value := .Values.members }}
---
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ $name }} }
data: { value: {{ $value | quote }} }
{{- end }}
`,
  'templates/kept.yaml':
    '{{ if .Values.kept }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n{{ end }}\n',
  'templates/broken.yaml':
    '{{ if .Values.broken }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: "Not A Name"}\n{{ end }}\n',
  'templates/hook.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: "pre-install,pre-upgrade,post-rollback,pre-delete"}\n',
};
const release = { name: 'shop', namespace: 'default' };
const memberNames = ['a', 'b', 'c', 'd'];
const tenMinutesMs = 660_000;

interface Values {
  readonly members: Readonly<Record<string, string>>;
  readonly kept?: boolean;
  readonly broken?: boolean;
}

/** One of ours: does one thing after another, dies, sleeps and comes back. */
interface Actor {
  readonly name: string;
  readonly transport: () => KillableTransport | undefined;
  readonly sleepUntil: (at: number) => void;
}

class Storm {
  readonly journal: string[] = [];
  readonly #cluster: TestCluster;
  readonly #chart: Chart;
  readonly #random: SeededRandom;
  readonly #storage: ReleaseStorage;
  readonly #actors: Actor[] = [];
  /** As the helm command: it goes on from whatever it finds. */
  readonly #withHelm: boolean;
  /** No process dies and no request is lost. */
  readonly #isWhole: boolean;
  /** Whether failed upgrades remove what they made, kept or not, as Helm does. */
  readonly #cleansUp: boolean;
  readonly historyMax: number;
  /** Members that somebody else wrote or deleted. */
  readonly #touched = new Set<string>();
  /** Revisions whose records somebody deleted: what they made cannot be known from then on. */
  readonly #forgotten = new Set<number>();
  /** What must never happen, and did. */
  readonly #broken: string[] = [];
  #raging = true;
  #events = 0;
  #startedAt: number;
  #helmsRevision: Release | undefined;

  constructor(cluster: TestCluster, chart: Chart, random: SeededRandom) {
    this.#cluster = cluster;
    this.#chart = chart;
    this.#random = random;
    this.#storage = new ReleaseStorage(cluster.client, () => cluster.clock.now());
    this.#withHelm = random.fork('helm').chance(0.4);
    this.#isWhole = random.fork('whole').chance(0.4);
    this.#cleansUp = random.fork('cleanup').chance(0.3);
    this.historyMax = random.fork('history').pick([0, 1, 2, 4]);
    this.#startedAt = cluster.clock.now();
  }

  async rage(): Promise<void> {
    const actors = this.#random.fork('actors').chance(0.7) ? ['one', 'two'] : ['one'];
    const lives = Promise.allSettled(actors.map(async (name) => await this.#live(name)));
    let outcomes: PromiseSettledResult<void>[] | undefined;
    void lives.then((settled) => (outcomes = settled));
    await this.#cluster.eventually('all have done their work', () => outcomes);
    this.#raging = false;
    for (const outcome of outcomes!) if (outcome.status === 'rejected') throw outcome.reason;
    expect(this.#broken).toEqual([]);
  }

  async history(): Promise<Release[]> {
    return (await this.#storage.history('default', 'shop')).map((stored) => stored.release);
  }

  /** Two that are deployed come only of a helm command that went on while ours was at work, and of ours dying then. */
  get mayLeaveTwoDeployed(): boolean {
    return this.#withHelm && !this.#isWhole;
  }

  /** Whether only ours touched a member. */
  isUntouched(name: string): boolean {
    return !this.#touched.has(name);
  }

  /** Whether the objects may be those of a later revision, of which nobody knows any more. */
  mayBeBeyond({ revision }: Release): boolean {
    return [...this.#forgotten].some((forgotten) => forgotten > revision);
  }

  async #live(name: string): Promise<void> {
    const random = this.#random.fork(`actor/${name}`);
    const { clock } = this.#cluster;
    let wakes = 0;
    let transport: KillableTransport | undefined;
    this.#actors.push({ name, transport: () => transport, sleepUntil: (at) => (wakes = at) });
    const own: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      schedule(delayMs, callback) {
        const process = transport;
        const fire = (): void => {
          if (process?.dead) return;
          if (clock.now() < wakes) timer = clock.schedule(wakes - clock.now(), fire);
          else callback();
        };
        let timer = clock.schedule(delayMs, fire);
        return { cancel: () => timer.cancel() };
      },
    };
    const works = 2 + random.below(4);
    let writes = 0;
    for (let index = 0; index < works; index += 1) {
      let died: () => void = () => undefined;
      const death = new Promise<'died'>((resolve) => (died = () => resolve('died')));
      const sends = this.#rough(
        name,
        () => (writes += 1),
        () => wakes,
      );
      transport = new KillableTransport(sends, () => false, died);
      const client = createClient({ transport, fieldManager: 'helm', clock: own });
      const [what, work] = this.#work(random.fork(`work/${index}`), index);
      this.#note(`${name}: ${what}`);
      const outcome = await Promise.race([death, this.#outcomeOf(name, work({ client, clock: own }))]);
      this.#note(`${name}: ${what}: ${outcome}`);
      transport.kill();
      await sleep(clock, random.pick([0, 0, 1_000, 30_000, tenMinutesMs]));
    }
  }

  async #outcomeOf(name: string, work: Promise<Release | undefined>): Promise<string> {
    try {
      const done = await work;
      if (done === undefined) return 'done';
      const found = (await this.history()).find(({ revision }) => revision === done.revision);
      // Said to be deployed, it is so, or somebody went on from it.
      const isLast = (await this.history()).at(-1)?.revision === done.revision;
      if (isLast && !this.#withHelm && !this.#forgotten.has(done.revision))
        expect(`${name}: ${found?.status}`).toMatch(/deployed|uninstall/);
      return `revision ${done.revision}`;
    } catch (error) {
      if (error instanceof ReleaseError) return `${error.code} ${error.message}`;
      if (error instanceof KubeError) return `${error.reason} ${error.message}`;
      throw error;
    }
  }

  #work(random: SeededRandom, index: number): [string, (context: ReleaseContext) => Promise<Release | undefined>] {
    const values = valuesOf(random);
    const { historyMax } = this;
    const chart = this.#chart;
    const kind =
      index === 0
        ? 'install'
        : random.pick(['upgrade', 'upgrade', 'upgrade', 'install', 'rollback', 'rollback', 'uninstall']);
    const options = {
      ...release,
      values,
      historyMax,
      rollbackOnFailure: random.chance(0.2),
      cleanupOnFail: this.#cleansUp,
      forceConflicts: random.chance(0.5),
      takeOwnership: random.chance(0.3),
    };
    const keepHistory = random.chance(0.4);
    const valuesFrom = random.pick(['default', 'reset', 'reuse', 'reset-then-reuse'] as const);
    switch (kind) {
      case 'upgrade':
        return [
          `upgrade ${JSON.stringify(values)} ${valuesFrom}`,
          async (context) => await upgradeRelease(context, chart, { ...options, valuesFrom, install: true }),
        ];
      case 'install':
        return [
          `install ${JSON.stringify(values)}`,
          async (context) => await installRelease(context, chart, { ...options, replace: true }),
        ];
      case 'rollback':
        return ['rollback', async (context) => await rollbackRelease(context, { ...options, revision: 0 })];
      default:
        return [
          `uninstall${keepHistory ? ', keeping the history' : ''}`,
          async (context) => (await uninstallRelease(context, { ...release, keepHistory }), undefined),
        ];
    }
  }

  /** The network of one of ours: writes are held, refused or lost, and things happen before and after them. */
  #rough(actor: string, count: () => number, wakes: () => number): Transport {
    const inner = this.#cluster.transport();
    const { clock } = this.#cluster;
    const awake = async (): Promise<void> => {
      while (clock.now() < wakes()) await sleep(clock, wakes() - clock.now());
    };
    return {
      send: async (request, signal) => {
        if (request.method === 'GET' || !this.#raging) {
          const answer = await inner.send(request, signal);
          await awake();
          return answer;
        }
        if (request.method === 'DELETE' && request.path.includes('/configmaps/kept') && !this.#cleansUp)
          this.#broken.push(`${actor} deleted what is to be kept`);
        const draw = this.#random.fork(`${actor}/${count()}`);
        const fault =
          !this.#isWhole && draw.chance(0.06) ? draw.pick(['conflict', 'unavailable', 'lost'] as const) : undefined;
        const holdMs = draw.pick([0, 0, 0, 0, 5, 40, 2_000, 20_000]);
        this.#note(`${actor}: ${request.method} ${request.path.replace(/\?.*/, '')} ${holdMs} ${fault ?? ''}`);
        if (holdMs > 0) await sleep(clock, holdMs);
        if (draw.chance(0.25)) await this.#happen(draw.fork('before'));
        if (fault === 'conflict') return refusal(409, 'Conflict');
        if (fault === 'unavailable') return refusal(503, 'ServiceUnavailable');
        const response = await inner.send(request, signal);
        if (draw.chance(0.12)) await this.#happen(draw.fork('after'));
        // Who sleeps finds the answer when it wakes up.
        await awake();
        if (fault === 'lost') throw Object.assign(new Error('the answer got lost'), { code: 'ECONNRESET' });
        return response;
      },
      open: (request: TransportRequest, handler) => inner.open(request, handler),
      close: async () => await inner.close(),
    };
  }

  async #happen(random: SeededRandom): Promise<void> {
    if (!this.#raging || (this.#events += 1) > 40) return;
    const { client, clock } = this.#cluster;
    const at = (name: string) => ({ namespace: 'default', name });
    const name = random.pick([...memberNames, 'base']);
    const actor = random.pick(this.#actors);
    const events: Record<string, () => unknown> = {
      kill: () => actor.transport()?.kill(),
      sleep: () => actor.sleepUntil(clock.now() + random.pick([5_000, 50_000, 590_000, 700_000, 1_500_000])),
      edit: () =>
        client.patch(
          ConfigMap,
          at(name),
          { type: 'merge', body: { data: { value: 'x' } } },
          { fieldManager: 'somebody' },
        ),
      delete: () => client.delete(ConfigMap, at(name)),
      make: () =>
        client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: at(name) } as KubeObject, {
          fieldManager: 'somebody',
        }),
      steal: () =>
        client.patch(ConfigMap, at(name), {
          type: 'merge',
          body: { metadata: { annotations: { 'meta.helm.sh/release-name': 'other' } } },
        }),
      forget: async () => {
        const found = random.pick(await this.history());
        if (!found) return;
        this.#forgotten.add(found.revision);
        await this.#storage.delete(found);
      },
      helm: async () => await this.#helm(random),
    };
    const what = random.pick([
      ...(this.#isWhole ? [] : ['kill', 'kill']),
      'sleep',
      'sleep',
      'edit',
      'edit',
      'delete',
      'delete',
      'make',
      'steal',
      'forget',
      ...(this.#withHelm ? ['helm', 'helm', 'helm'] : []),
    ]);
    this.#note(`${what} ${what === 'kill' || what === 'sleep' ? actor.name : name}`);
    if (['edit', 'delete', 'make', 'steal'].includes(what)) this.#touched.add(name);
    try {
      await events[what]!();
    } catch (error) {
      if (!(error instanceof KubeError || error instanceof ReleaseError)) throw error;
    }
  }

  /** A rollback by the helm command, which does not mind who is at work: its record first, and some time later the rest. */
  async #helm(random: SeededRandom): Promise<void> {
    const begun = this.#helmsRevision;
    this.#helmsRevision = undefined;
    if (begun === undefined) {
      const all = await this.history();
      if (all.length === 0) return;
      const next = { ...random.pick(all), revision: all.at(-1)!.revision + 1, status: 'pending-rollback' as const };
      await this.#storage.create(next);
      if (random.chance(0.7)) this.#helmsRevision = next;
      return;
    }
    for (const [member, value] of wanted(begun)) {
      const metadata = { name: member, namespace: 'default', labels: ownLabels, annotations: ownAnnotations };
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } } as KubeObject;
      await this.#cluster.client.apply(object, { fieldManager: 'helm', force: true });
      this.#touched.add(member);
    }
    for (const each of await this.#storage.deployed(release))
      await this.#storage.update({ ...each, status: 'superseded' });
    await this.#storage.update({ ...begun, status: 'deployed' });
  }

  #note(text: string): void {
    this.journal.push(`${((this.#cluster.clock.now() - this.#startedAt) / 1000).toFixed(1)} ${text}`);
  }
}

const ownLabels = { 'app.kubernetes.io/managed-by': 'Helm' };
const ownAnnotations = { 'meta.helm.sh/release-name': 'shop', 'meta.helm.sh/release-namespace': 'default' };

function valuesOf(random: SeededRandom): Values & Record<string, unknown> {
  const members = Object.fromEntries(random.some(memberNames, 0.6).map((name) => [name, String(random.below(3))]));
  return { members, ...(random.chance(0.4) ? { kept: true } : {}), broken: random.chance(0.15) };
}

/** The members a revision is to have, by what its record says. */
function wanted({ manifest }: Release): Map<string, string> {
  return new Map(
    [...manifest.matchAll(/name: (\w+) \}\ndata: \{ value: "(\w+)" \}/g)].map((match) => [match[1]!, match[2]!]),
  );
}

function refusal(code: number, reason: string): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code, details: {} };
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ ...status, message: `${reason} (storm)` })),
  };
}

async function membersOf({ client }: TestCluster): Promise<Map<string, ConfigMap>> {
  const found = await Array.fromAsync(client.list(ConfigMap, { namespace: 'default' }));
  return new Map(
    found.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt').map((each) => [each.metadata.name!, each]),
  );
}

async function done<T>(cluster: TestCluster, work: Promise<T>): Promise<T> {
  let outcome: PromiseSettledResult<T> | undefined;
  void Promise.allSettled([work]).then(([settled]) => (outcome = settled));
  const settled = await cluster.eventually('it is done', () => outcome);
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

async function play(seed: string): Promise<void> {
  const random = new SeededRandom(`release/${seed}`);
  await using cluster = await testCluster({ embedded: { random: random.fork('uids') } });
  const chart = await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
  const storm = new Storm(cluster, chart, random);
  try {
    await storm.rage();
    await cluster.advance(tenMinutesMs);
    await check(cluster, chart, storm);
  } catch (error) {
    const journal = storm.journal.join('\n');
    const replay = `SLIPWAY_STORM=${seed} npx vitest run packages/charts/test/release-storm.test.ts`;
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`storm ${seed}: ${text}\n${journal}\nagain: ${replay}`, { cause: error });
  }
}

/** Nobody is at work, and the longest anybody waits for a sign of life is over: the next run goes on, and leaves everything as it says. */
async function check(cluster: TestCluster, chart: Chart, storm: Storm): Promise<void> {
  const context = { client: cluster.client, clock: cluster.clock };
  const before = await storm.history();
  const deployed = before.filter(({ status }) => status === 'deployed');
  if (!storm.mayLeaveTwoDeployed) expect(deployed.length, 'revisions that are deployed').toBeLessThanOrEqual(1);
  const last = before.at(-1);
  if (last?.status === 'deployed' && !storm.mayBeBeyond(last)) {
    const found = await membersOf(cluster);
    for (const [name, value] of wanted(last))
      if (storm.isUntouched(name))
        expect(found.get(name)?.data, `${name} of revision ${last.revision}`).toEqual({ value });
  }
  const base = last?.status === 'uninstalled' ? undefined : (deployed.at(-1) ?? last);
  const mends = base === undefined || base.config['broken'] === true;
  const values = mends ? { members: { a: '9' } } : undefined;
  const result = await done(
    cluster,
    upgradeRelease(context, chart, {
      ...release,
      values,
      install: true,
      forceConflicts: true,
      takeOwnership: true,
      historyMax: storm.historyMax,
    }),
  );

  const after = await storm.history();
  expect(after.filter(({ status }) => status === 'deployed').map(({ revision }) => revision)).toEqual([
    result.revision,
  ]);
  expect(after.at(-1)?.revision).toBe(result.revision);
  expect(after.map(({ status }) => status).filter((status) => /pending|uninstalling/.test(status))).toEqual([]);
  if (storm.historyMax > 0 && base !== undefined)
    expect(after.length).toBeLessThanOrEqual(Math.max(2, storm.historyMax));
  if (!mends) expect(result.config, 'the values of the user').toEqual(base.config);

  const members = await membersOf(cluster);
  const expected = wanted(result);
  expect([...expected.keys()]).toContain('base');
  for (const [name, value] of expected) {
    expect(members.get(name)?.data, `the data of ${name}`).toEqual({ value });
    expect(members.get(name)?.metadata.annotations, `the owner of ${name}`).toMatchObject(ownAnnotations);
  }
  for (const name of base === undefined ? [] : wanted(base).keys())
    if (!expected.has(name)) expect(members.has(name), `${name}, which left the release`).toBe(false);

  await done(cluster, uninstallRelease(context, release));
  const left = await membersOf(cluster);
  for (const name of expected.keys()) expect(left.has(name), `${name}, which was uninstalled`).toBe(false);
  if (result.manifest.includes('resource-policy: keep')) expect(left.has('kept'), 'what is to be kept').toBe(true);
  const secrets = await cluster.client.listPage(Secret, { namespace: 'default', labelSelector: 'owner=helm' });
  expect(secrets.items).toEqual([]);
}

describe.skipIf(
  skipped(onReference, 'storms over releases: processes sleep for hours in them, which needs virtual time'),
)('releases in a storm: two of ours, the helm command, hands on objects and records, deaths and long sleeps', () => {
  test.each(stormSeeds({ quick: 4, full: 400 }))('storm %s', { timeout: 300_000 }, async (seed) => {
    await play(seed);
  });
});
