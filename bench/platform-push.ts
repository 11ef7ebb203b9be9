/** `npm run bench:platform-push [-- --rounds N] [-- --record]`: how soon after a push a team and its app are there, as a user of `slipway up` sees it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { connect, ConfigMap, findConnection, Namespace, type Client } from '@slipway/kube';

import { Application } from '../packages/app-platform/src/argo/application.ts';
import { figure, publish, type Table } from './lib/report.ts';
import { median, percentile } from './lib/statistics.ts';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, record: { type: 'boolean' } },
});
const rounds = Number(options.rounds);
/** The promise, from the end of the push. */
const barMs = 3000;
/** Often enough for these figures, and seldom enough not to be most of the load. */
const lookEveryMs = 10;

const folder = await mkdtemp(join(tmpdir(), 'slipway-push-'));
const main = join(import.meta.dirname, '..', 'packages', 'cli', 'src', 'main.ts');
const kubeconfig = join(folder, 'kubeconfig');
const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig, GIT_TERMINAL_PROMPT: '0' };
const run = promisify(execFile);

interface Times {
  readonly push: number;
  readonly begun: number;
  readonly namespace: number;
  readonly application: number;
  readonly synced: number;
  readonly through: number;
}

/** A team with an app, pushed with the git of this machine; everything is timed from the end of the push. */
async function pushTeam(client: Client, checkout: string, team: string): Promise<Times> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: checkout, env })).stdout.trim();
  const files = join(checkout, 'env', 'teams', team);
  await mkdir(join(files, 'workloads'), { recursive: true });
  await writeFile(join(files, 'settings.yaml'), 'kind: AplTeamSettingSet\nspec: {}\n');
  await writeFile(
    join(files, 'workloads', 'web.yaml'),
    'kind: AplTeamWorkload\nmetadata: {name: web}\nspec: {image: nginx}\n',
  );
  await git('pull', '--quiet', '--rebase');
  await git('add', '--all');
  await git('commit', '--quiet', '-m', `team ${team}`);
  const commit = await git('rev-parse', 'HEAD');
  const before = performance.now();
  await git('push', '--quiet');
  const pushed = performance.now();
  const application = { namespace: 'argocd', name: `team-${team}-web` };
  const state = async () => {
    const { data = {} } =
      (await client.get(ConfigMap, { namespace: 'apl-operator', name: 'apl-operator-state' })) ?? {};
    return data['commitHash'] === commit ? data['status'] : undefined;
  };
  const at = async (check: () => Promise<unknown>): Promise<number> => {
    for (;;) {
      if (await check()) return performance.now() - pushed;
      await wait(lookEveryMs);
    }
  };
  const [begun, namespace, made, synced, through] = await Promise.all([
    at(state),
    at(() => client.get(Namespace, { name: `team-${team}` })),
    at(() => client.get(Application, application)),
    at(async () => (await client.get(Application, application))?.status?.sync?.status === 'Synced'),
    at(async () => (await state()) === 'succeeded'),
  ]);
  return { push: pushed - before, begun, namespace, application: made, synced, through };
}

const child = spawn(process.execPath, [main, 'up', 'app-platform', '--port', '0', '--kubeconfig', kubeconfig], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  let said = '';
  const installed = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
      if (said.includes('apply         succeeded')) resolve();
    });
    child.once('exit', () => reject(new Error(`slipway up ended:\n${said}`)));
  });
  await installed;
  const [, address, user, password] = /git clone (\S+) {2}\(user (\S+), password (\S+)\)/.exec(said)!;
  const checkout = join(folder, 'values');
  const url = new URL(address!);
  Object.assign(url, { username: user, password });
  await run('git', ['clone', '--quiet', url.href, checkout], { env });
  await run('git', ['config', 'user.name', 'bench'], { cwd: checkout, env });
  await run('git', ['config', 'user.email', 'bench@example.com'], { cwd: checkout, env });
  const cluster = connect(await findConnection({ env }));
  const times: Times[] = [];
  for (let round = 0; round <= rounds; round += 1) times.push(await pushTeam(cluster.client, checkout, `t${round}x`));
  await cluster.close();
  // The first one finds nothing warm; whoever tries the tutorial sees it.
  const [first, ...rest] = times;
  const row = (name: string, of: (each: Times) => number): string[] => {
    const all = rest.map(of);
    return [name, figure(of(first!)), figure(median(all)), figure(percentile(all, 0.95)), figure(Math.max(...all))];
  };
  const table: Table = {
    title: 'Milliseconds after the push',
    columns: ['', 'first push', 'median', 'p95', 'worst'],
    rows: [
      row('git push itself', ({ push }) => push),
      row('the apply has begun (webhook, fetch)', ({ begun }) => begun),
      row('the namespace of the team is there', ({ namespace }) => namespace),
      row('the Application of its app is there', ({ application }) => application),
      row('the Application is Synced', ({ synced }) => synced),
      row('the apply is through (defaults pushed back)', ({ through }) => through),
    ],
  };
  const worst = Math.max(...times.map(({ synced, namespace }) => Math.max(synced, namespace)));
  await publish({
    script: 'bench:platform-push',
    title: 'From push to app',
    method: `\`slipway up app-platform\` from sources, as a process of its own; ${rounds + 1} teams with an app each, pushed one after the other with git. Seen by asking the API server every ${lookEveryMs} ms.`,
    versions: {},
    bars: [
      {
        text: 'a pushed team has its namespace and its app within 3 s',
        value: `${figure(worst)} ms at worst`,
        holds: worst < barMs,
      },
    ],
    tables: [table],
  });
} finally {
  const ended = child.exitCode === null ? once(child, 'exit') : undefined;
  child.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
}
