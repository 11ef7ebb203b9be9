import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newObject, PriorityClass, type KubeObject } from '@slipway/kube';
import { ManifestError, parseManifests } from '@slipway/manifests';
import { parse } from 'yaml';

import { names } from '../names.ts';
import { Refusal } from '../reasons.ts';
import type { Settings } from '../settings/settings.ts';

/** The module as it lies on disk. */
export interface ModuleFiles {
  readonly chartVersion: string;
  /** What belongs on the cluster, in order of files. */
  readonly apply: readonly KubeObject[];
  /** What earlier versions left there. */
  readonly outdated: readonly KubeObject[];
  readonly networkPolicies: readonly KubeObject[];
}

type Paths = Pick<Settings, 'chartPath' | 'resourcesPath' | 'managerResourcesPath'>;

/** Reads the module and keeps it until a file changes: a reconciliation asks for it each time. */
export class ModuleLoader {
  #known: { stamp: string; files: ModuleFiles } | undefined;

  async load(paths: Paths): Promise<ModuleFiles> {
    if (paths.chartPath === '') throw new Refusal('ChartPathEmpty', 'the chart path is empty; set --chart-path');
    const chartFile = join(paths.chartPath, 'Chart.yaml');
    const files = {
      apply: await manifestFiles(join(paths.resourcesPath, 'apply')),
      outdated: await manifestFiles(join(paths.resourcesPath, 'delete')),
      networkPolicies: await manifestFiles(join(paths.managerResourcesPath, 'network-policies')),
    };
    const stamp = await stampOf([chartFile, ...files.apply, ...files.outdated, ...files.networkPolicies]);
    if (this.#known?.stamp === stamp) return this.#known.files;
    const loaded: ModuleFiles = {
      chartVersion: await readChartVersion(chartFile),
      apply: withPriorityClass(await readObjects(files.apply)),
      outdated: await readObjects(files.outdated),
      networkPolicies: await readObjects(files.networkPolicies),
    };
    this.#known = { stamp, files: loaded };
    return loaded;
  }
}

/** Without the class its pods name no pod is made. The original brings it with itself, so sets made for the original do not hold it. */
function withPriorityClass(objects: readonly KubeObject[]): KubeObject[] {
  const isNamed = objects.some((object) => priorityClassOf(object) === names.priorityClass);
  const isThere = objects.some(
    ({ kind, metadata }) => kind === PriorityClass.kind && metadata.name === names.priorityClass,
  );
  if (!isNamed || isThere) return [...objects];
  const priorityClass = newObject(PriorityClass, {
    metadata: { name: names.priorityClass },
    value: 2_100_000,
    preemptionPolicy: 'PreemptLowerPriority',
    description: 'Pods of the SAP BTP service operator.',
  });
  return [...objects, priorityClass as KubeObject];
}

function priorityClassOf(object: KubeObject): string | undefined {
  const { spec } = object as { spec?: { template?: { spec?: { priorityClassName?: string } } } };
  return object.kind === 'Deployment' ? spec?.template?.spec?.priorityClassName : undefined;
}

/** `*.yml` and `*.yaml` of a folder, not of folders in it, in byte order of their names. */
async function manifestFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name))
      .map((entry) => entry.name)
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    throw new Refusal('InconsistentChart', `the folder ${folder} cannot be read: ${codeOf(error)}`, { cause: error });
  }
}

async function readChartVersion(file: string): Promise<string> {
  let chart: unknown;
  try {
    chart = parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new Refusal('InconsistentChart', `${file}: ${(error as Error).message}`, { cause: error });
  }
  const version = (chart as { version?: unknown } | null)?.version;
  if (typeof version !== 'string' || version === '')
    throw new Refusal('InconsistentChart', `${file}: version is missing`);
  // It becomes the value of a label.
  if (!/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(version))
    throw new Refusal('InconsistentChart', `${file}: version "${version}" cannot be the value of a label`);
  return version;
}

async function readObjects(files: readonly string[]): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const file of files) {
    try {
      objects.push(...parseManifests(await readFile(file, 'utf8'), { source: file }));
    } catch (error) {
      const message = error instanceof ManifestError ? error.message : `${file}: ${codeOf(error)}`;
      throw new Refusal('InconsistentChart', message, { cause: error });
    }
  }
  return objects;
}

async function stampOf(files: readonly string[]): Promise<string> {
  const parts = files.map(async (file) => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      return `${file}:${mtimeMs}:${size}:${ino}`;
    } catch (error) {
      // The chart is the only file that was not just listed.
      if (file.endsWith('Chart.yaml'))
        throw new Refusal('ChartPathEmpty', `${file} cannot be read: ${codeOf(error)}`, { cause: error });
      throw new Refusal('InconsistentChart', `${file} cannot be read: ${codeOf(error)}`, { cause: error });
    }
  });
  return (await Promise.all(parts)).join('\n');
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}
