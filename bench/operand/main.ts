/**
 * `npm run bench:operand [-- --quick] [-- --record]`: a set of a thousand objects on the real API server, by us, by kubectl and
 * by the engine of Flux; then the Operand operator with as many members.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connect, Namespace, newObject, type KubeObject } from '@slipway/kube';
import { startReferenceCluster } from '@slipway/reference-cluster';

import { renderKubeconfig } from '../../tools/reference-cluster/kubeconfig.ts';
import { bundleInto } from '../lib/bundle.ts';
import { referenceVersions } from '../lib/reference-versions.ts';
import { goPeer, goVersion, pinnedModule } from '../lib/go-peer.ts';
import { type Bar, figure, publish, ratio, type Table } from '../lib/report.ts';
import { AuditLog, auditPolicy, type RequestCounts } from './audit.ts';
import { CountingProxy } from './counting-proxy.ts';
import { asStream, everySecond, mixedObjects } from './objects.ts';
import { measureOperand } from './operand-phases.ts';

const quick = process.argv.includes('--quick');
const count = quick ? 120 : 1_000;
const log = (line: string) => console.error(`… ${line}`);

const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const flux = await goPeer('flux-ssa', log);
const ours = await bundleInto(folder, join(import.meta.dirname, 'apply-once.ts'), 'apply-once');
const operator = await bundleInto(folder, join(import.meta.dirname, 'operator-process.ts'), 'operator');

await writeFile(join(folder, 'audit-policy.yaml'), auditPolicy);
const auditFile = join(folder, 'audit.log');
await using cluster = await startReferenceCluster({
  log,
  controllers: true,
  // Objects that leave a set go; no workload makes objects of its own.
  controllerManagerArgs: [
    '--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller',
  ],
  apiServerArgs: [`--audit-policy-file=${join(folder, 'audit-policy.yaml')}`, `--audit-log-path=${auditFile}`],
});
const audit = new AuditLog(auditFile);
await using proxy = await CountingProxy.start(cluster.url);
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(
  kubeconfig,
  renderKubeconfig(proxy.url, cluster.ca, { certificate: cluster.adminCert, key: cluster.adminKey }),
);
// As somebody else, so that its requests are not counted.
await using admin = connect({
  server: cluster.url,
  impersonate: { user: 'bench-driver', groups: ['system:masters'] },
  tls: { ca: cluster.ca, clientCertificate: { cert: cluster.adminCert, key: cluster.adminKey } },
});

interface Contestant {
  readonly name: string;
  readonly namespace: string;
  command(apply: string, leave: string | undefined): { args: string[]; env?: Record<string, string> } | undefined;
}

const kubectl = cluster.binaries.kubectl;
const applyFlags = ['apply', '--server-side', '--force-conflicts', '-f'];
const contestants: Contestant[] = [
  {
    name: 'Slipway applySet',
    namespace: 'bench-ours',
    command: (apply, leave) => ({
      args: [
        process.execPath,
        ours,
        '--kubeconfig',
        kubeconfig,
        '--apply',
        apply,
        ...(leave ? ['--delete', leave] : []),
      ],
    }),
  },
  {
    name: 'kubectl apply --server-side',
    namespace: 'bench-kubectl',
    command: (apply, leave) =>
      leave ? undefined : { args: [kubectl, '--kubeconfig', kubeconfig, ...applyFlags, apply] },
  },
  {
    name: 'kubectl … --prune --applyset',
    namespace: 'bench-applyset',
    command: (apply) => ({
      args: [
        kubectl,
        '--kubeconfig',
        kubeconfig,
        '-n',
        'bench-applyset',
        ...applyFlags,
        apply,
        '--prune',
        '--applyset=bench',
      ],
      env: { KUBECTL_APPLYSET: 'true' },
    }),
  },
  {
    name: 'Flux ssa, 8 at a time',
    namespace: 'bench-flux',
    command: (apply, leave) => ({
      args: [flux, '-kubeconfig', kubeconfig, '-apply', apply, ...(leave ? ['-delete', leave] : [])],
    }),
  },
];

interface Pass extends RequestCounts {
  readonly ms: number;
  readonly cpuMs: number;
  readonly kb: number;
  readonly uris: readonly string[];
}

async function runPass(contestant: Contestant, apply: KubeObject[], leave?: KubeObject[]): Promise<Pass | undefined> {
  const applyFile = join(folder, `${contestant.namespace}-apply.yaml`);
  const leaveFile = join(folder, `${contestant.namespace}-leave.yaml`);
  await writeFile(applyFile, asStream(apply));
  if (leave) await writeFile(leaveFile, asStream(leave));
  const command = contestant.command(applyFile, leave ? leaveFile : undefined);
  if (!command) return undefined;
  await audit.counts();
  const bytes = proxy.bytes;
  const begin = performance.now();
  // The shell's `time` knows the CPU of a process that has ended.
  const child = spawn('bash', ['-c', 'TIMEFORMAT="cpu %U %S"; time "$@" > /dev/null', '--', ...command.args], {
    env: { ...process.env, ...command.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  const ms = performance.now() - begin;
  const cpu = /cpu ([\d.]+) ([\d.]+)\s*$/.exec(text);
  if (code !== 0 || !cpu) throw new Error(`${contestant.name} failed: ${text.slice(0, 2_000)}`);
  const uris: string[] = [];
  const counts = await audit.counts((verb, uri) => uris.push(`${verb} ${uri}`));
  return { ...counts, ms, cpuMs: (Number(cpu[1]) + Number(cpu[2])) * 1000, kb: (proxy.bytes - bytes) / 1000, uris };
}

for (const { namespace } of contestants)
  await admin.client.create(newObject(Namespace, { metadata: { name: namespace } }));

type Phase = 'first apply' | 'no change' | 'one object changed' | 'half removed';
const phases: Phase[] = ['first apply', 'no change', 'one object changed', 'half removed'];
const passes = new Map<Phase, Map<Contestant, Pass | undefined>>();
for (const phase of phases) {
  const results = new Map<Contestant, Pass | undefined>();
  for (const contestant of contestants) {
    log(`${phase}: ${contestant.name}`);
    const changed = phase === 'one object changed' || phase === 'half removed';
    const objects = mixedObjects(contestant.namespace, count, changed);
    const { stay, leave } = everySecond(objects);
    results.set(
      contestant,
      phase === 'half removed' ? await runPass(contestant, stay, leave) : await runPass(contestant, objects),
    );
  }
  passes.set(phase, results);
}

log('the Operand operator');
const operand = await measureOperand({ operator, kubeconfig, client: admin.client, audit, count, log });

const mine = contestants[0]!;
function phaseTable(phase: Phase): Table {
  const results = passes.get(phase)!;
  const base = results.get(mine)!;
  return {
    title: `${count} objects, ${phase}`,
    columns: ['', 'time', 'ours', 'CPU', 'reads', 'lists', 'dry runs', 'writes', 'KB'],
    rows: contestants.flatMap((contestant) => {
      const pass = results.get(contestant);
      if (!pass) return [];
      return [
        [
          contestant.name,
          figure(pass.ms / 1000, 's'),
          contestant === mine ? '1' : ratio(base.ms, pass.ms),
          figure(pass.cpuMs / 1000, 's'),
          String(pass.gets),
          String(pass.lists),
          String(pass.dryRuns),
          String(pass.writes),
          figure(pass.kb),
        ],
      ];
    }),
  };
}

function bars(): Bar[] {
  const first = passes.get('first apply')!;
  const peers = contestants.slice(1).map((contestant) => first.get(contestant)!.ms);
  const fastest = Math.min(...peers);
  const noop = passes.get('no change')!.get(mine)!;
  const kinds = new Set(mixedObjects('x', count).map(({ kind }) => kind)).size;
  return [
    {
      text: `first apply at least as fast as the faster peer`,
      value: `${ratio(first.get(mine)!.ms, fastest)} of its time`,
      holds: first.get(mine)!.ms <= fastest,
    },
    {
      text: `no write and at most one list per kind when nothing changed (${kinds} kinds)`,
      value: `${noop.writes} writes, ${noop.dryRuns} dry runs, ${noop.lists} lists, ${noop.gets} reads`,
      holds: noop.writes + noop.dryRuns === 0 && noop.lists <= kinds,
    },
    ...operand.bars,
  ];
}

await publish({
  script: 'bench:operand',
  title: 'Sets of objects: manifests and the Operand operator',
  method:
    `${count} objects of seven kinds in one namespace of a real API server, one program after the other, each in a namespace of its own. Every pass is a process of its own: ` +
    'time is from its start to its end. Requests come from the audit log, bytes from a proxy that passes TLS through. Nobody waits for health; clients do not throttle themselves ' +
    '(kubectl: its defaults). "ours" is our time divided by the one of the row.',
  versions: {
    ...(await referenceVersions(cluster)),
    Go: (await goVersion()).replace(/^go/, ''),
    'fluxcd/pkg/ssa': await pinnedModule('flux-ssa', 'github.com/fluxcd/pkg/ssa'),
  },
  bars: bars(),
  tables: [...phases.map(phaseTable), operand.table],
});
