import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, connect, type Connection, loadKubeConfig, systemClock } from '@slipway/kube';
import { ensureReferenceBinaries, startReferenceCluster } from '@slipway/reference-cluster';

import { type Chart, loadChart } from '../src/index.ts';

/** A chart as the helm commands read it, and as our functions do. */
export interface BenchChart {
  readonly chart: Chart;
  readonly chartFolder: string;
}

/** A real cluster on which the helm commands and our own functions work on releases of one chart. */
export interface HelmBench extends BenchChart, AsyncDisposable {
  readonly connection: Connection;
  readonly client: Client;
  /** For our functions. */
  readonly context: { readonly client: Client; readonly clock: typeof systemClock };
  /** The program. */
  readonly helm4: string;
  readonly kubeconfig: string;
  /** Another chart, by path of its files. */
  addChart(files: Readonly<Record<string, string>>): Promise<BenchChart>;
  /** Runs a helm on the cluster, and gives what it prints. */
  helm(program: string, ...args: string[]): Promise<string>;
}

/** @param files the chart, by path */
export async function openHelmBench(files: Readonly<Record<string, string>>): Promise<HelmBench> {
  const binaries = await ensureReferenceBinaries({ tools: ['helm'] });
  if (!binaries.available) throw new Error(binaries.reason);
  const reference = await startReferenceCluster({ binaries });
  const folder = await mkdtemp(join(tmpdir(), 'helm-bench-'));
  let charts = 0;
  const addChart = async (chartFiles: Readonly<Record<string, string>>): Promise<BenchChart> => {
    const chartFolder = join(folder, (charts += 1) === 1 ? 'shop' : `shop-${charts}`);
    for (const [name, text] of Object.entries(chartFiles)) {
      await mkdir(dirname(join(chartFolder, name)), { recursive: true });
      await writeFile(join(chartFolder, name), text);
    }
    return { chart: await loadChart(chartFolder), chartFolder };
  };
  const connection = await (await loadKubeConfig({ file: reference.kubeconfigPath })).connection();
  const cluster = connect(connection);
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: reference.kubeconfigPath };
  return {
    ...(await addChart(files)),
    addChart,
    connection,
    client: cluster.client,
    context: { client: cluster.client, clock: systemClock },
    helm4: reference.binaries.helm!,
    kubeconfig: reference.kubeconfigPath,
    helm: async (program, ...args) => (await promisify(execFile)(program, args, { env })).stdout,
    async [Symbol.asyncDispose]() {
      await cluster.close();
      await reference.stop();
      await rm(folder, { recursive: true });
    },
  };
}
