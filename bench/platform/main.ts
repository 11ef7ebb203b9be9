/** `npm run bench:platform [-- --quick] [-- --record]`: the steps of an apply in process, and as a script with a program for each. */
import { channel, subscribe } from 'node:diagnostics_channel';
import { parseArgs } from 'node:util';

import type { Platform } from '../../packages/app-platform/src/platform/platform.ts';
import { decryptSecrets } from '../../packages/app-platform/src/secrets/crypt.ts';
import { findOracle } from '../../tools/oracles/index.ts';
import { ensureReferenceBinaries } from '../../tools/reference-cluster/index.ts';
import { figure, publish, ratio, type Bar, type Table } from '../lib/report.ts';
import { median } from '../lib/statistics.ts';
import { ByProcesses, type Programs } from './by-processes.ts';
import { benchWorld, type BenchWorld, type Size } from './world.ts';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, quick: { type: 'boolean' }, record: { type: 'boolean' } },
});
const rounds = Number(options.rounds);
const sizes: readonly Size[] = options.quick
  ? [{ releases: 10, teams: 1 }]
  : [10, 80].flatMap((releases) => [1, 100].map((teams) => ({ releases, teams })));

type Step = 'values load' | 'values load, first' | 'full apply' | 'teams-only apply' | 'idle poll';

interface Measured {
  readonly size: Size;
  readonly step: Step;
  readonly oursMs: number;
  readonly theirsMs: number;
}

async function programs(): Promise<{ programs: Programs; versions: Record<string, string> }> {
  const binaries = await ensureReferenceBinaries({ tools: ['helm', 'kubectl'], build: false });
  if (!binaries.available || !binaries.helm || !binaries.kubectl) throw new Error('not built: npm run reference:build');
  const [helmfile, sops] = [await findOracle('helmfile'), await findOracle('sops')];
  if (!helmfile.available) throw new Error(helmfile.reason);
  if (!sops.available) throw new Error(sops.reason);
  return {
    programs: { helm: binaries.helm, kubectl: binaries.kubectl, helmfile: helmfile.path, sops: sops.path },
    versions: { helmfile: helmfile.version, sops: sops.version },
  };
}

/** Progress, for whoever waits: all sizes take several minutes. */
function tell({ releases, teams }: Size, what: string): void {
  process.stderr.write(`${releases} releases, ${teams} ${teams === 1 ? 'team' : 'teams'}, ${what}\n`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** In turn, so that both sides meet the same load. */
async function inTurn(
  times: number,
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  before = async () => {},
) {
  const [a, b]: [number[], number[]] = [[], []];
  for (let round = 0; round < times; round += 1) {
    await before();
    a.push(await timed(ours));
    await before();
    b.push(await timed(theirs));
  }
  return { oursMs: median(a), theirsMs: median(b) };
}

async function measure(world: BenchWorld, size: Size, tools: Programs): Promise<Measured[]> {
  const { operator } = world;
  const script = new ByProcesses(world, tools);
  await operator.reconcile(world.platform());
  await script.loadValues();
  const step = async (name: Step, ...args: Parameters<typeof inTurn>): Promise<Measured> => {
    const measured = { size, step: name, ...(await inTurn(...args)) };
    tell(size, `${name}: ${figure(measured.oursMs, 'ms')} and ${figure(measured.theirsMs, 'ms')}`);
    return measured;
  };
  const load = async (platform: Platform) => {
    await decryptSecrets(platform);
    await platform.layers.values('all');
  };
  return [
    await step(
      'values load',
      rounds,
      () => load(world.platform()),
      () => script.loadValues(),
    ),
    await step(
      'values load, first',
      rounds,
      () => load(world.freshPlatform()),
      () => script.loadValues(),
    ),
    await step(
      'full apply',
      rounds,
      () => operator.reconcile(world.platform()),
      () => script.fullApply(),
    ),
    await step(
      'teams-only apply',
      rounds,
      () => operator.pollAndApplyGitChanges(world.platform()),
      () => script.teamsOnlyApply(),
      () => world.pushTeam(),
    ),
    await step(
      'idle poll',
      5 * rounds,
      () => operator.pollAndApplyGitChanges(world.platform()),
      () => script.idlePoll(),
    ),
  ];
}

/** Processes the operator starts in an idle poll. */
async function forksOfIdlePoll(world: BenchWorld): Promise<number> {
  const { operator } = world;
  await operator.pollAndApplyGitChanges(world.platform());
  let forks = 0;
  subscribe('child_process', () => (forks += 1));
  for (let poll = 0; poll < 20; poll += 1) await operator.pollAndApplyGitChanges(world.platform());
  if (!channel('child_process').hasSubscribers) throw new Error('nobody counts processes');
  return forks;
}

const { programs: tools, versions } = await programs();
const results: Measured[] = [];
let forks = 0;
for (const size of sizes) {
  const begun = performance.now();
  tell(size, 'installing');
  await using world = await benchWorld(size);
  results.push(...(await measure(world, size, tools)));
  forks += await forksOfIdlePoll(world);
  tell(size, `took ${figure((performance.now() - begun) / 1000, 's')}`);
}

const timeIsGit =
  'with a single team most of our time is waiting for git: fetch, and then checkout, ls-tree and log at once, are a process each';

function bar(step: Step, least: number, why?: string): Bar {
  const worst = Math.min(
    ...results.filter((result) => result.step === step).map(({ oursMs, theirsMs }) => theirsMs / oursMs),
  );
  return {
    text: `${step}: at least ${least} times as fast as the programs, in every size`,
    value: `${figure(worst)}×`,
    holds: worst >= least,
    ...(why === undefined ? {} : { why }),
  };
}

const tables: Table[] = sizes.map((size) => ({
  title: `${size.releases} releases, ${size.teams} ${size.teams === 1 ? 'team' : 'teams'}`,
  columns: ['', 'ours', 'programs', 'ours / programs'],
  rows: results
    .filter((result) => result.size === size)
    .map(({ step, oursMs, theirsMs }) => [step, figure(oursMs, 'ms'), figure(theirsMs, 'ms'), ratio(oursMs, theirsMs)]),
}));

await publish({
  script: 'bench:platform',
  title: 'Applying a platform',
  method: `An installed platform on an embedded API server and a Git server over HTTP, both in a process of their own. Ours: the operator's own rounds. Programs: the same steps as a script does them, with \`sops -d\` for each secret file, \`helmfile\` (and \`helm\` behind it) for values, lists and manifests, \`kubectl apply --server-side\` for the cluster, and \`git\` for every question about the repository, where the operator asks fewer. *First*: nothing is remembered from before, as in a process that has just started. Medians of ${rounds} rounds in turn.`,
  versions,
  bars: [
    bar('full apply', 5),
    bar('teams-only apply', 10, timeIsGit),
    { text: 'an idle poll starts no process', value: String(forks), holds: forks === 0 },
  ],
  tables,
});
