import { chartNode } from '../chart/chart-node.ts';
import { ChartError } from '../chart/chart-error.ts';
import { missingDependencies } from '../chart/installable.ts';
import { isMap } from '../go/values.ts';
import { crdsOf } from '../render/render.ts';
import { readYaml } from '../yaml/read.ts';
import type { LintedChart } from './lint-chart.ts';
import type { Findings } from './lint-message.ts';
import { documentsIn } from './documents.ts';

/** Whether Chart.yaml and `charts/` tell the same. */
export function dependencyRules(findings: Findings, { path, chart }: LintedChart): void {
  if (chart instanceof ChartError) return void findings.note('ERROR', '', `unable to load chart\n\t${chart.message}`);
  const named = new Set(chart.metadata.dependencies.map(({ name }) => name));
  const unnamed = chart.dependencies.map(({ metadata }) => metadata.name).filter((name) => !named.has(name));
  const missing = missingDependencies(chart);
  findings.note(
    'ERROR',
    path,
    unnamed.length === 0 ? undefined : `chart metadata is missing these dependencies: ${unnamed.join(',')}`,
  );
  findings.note(
    'WARNING',
    path,
    missing.length === 0 ? undefined : `chart directory is missing these dependencies: ${missing.join(',')}`,
  );
}

/** Whether `crds/` holds definitions of kinds, and nothing else. */
export function definitionRules(findings: Findings, { files, folders, chart }: LintedChart): void {
  const folder = 'crds/';
  const isFile = files.some(({ name }) => name === 'crds');
  if (!isFile && !folders.has('crds') && !files.some(({ name }) => name.startsWith(folder))) return;
  if (!findings.note('ERROR', folder, isFile ? 'not a directory' : undefined)) return;
  if (chart instanceof ChartError) return void findings.note('ERROR', folder, chart.message);
  for (const { path, content } of crdsOf(chartNode(chart))) {
    const name = path.slice(path.lastIndexOf(folder));
    for (const document of documentsIn(content)) {
      try {
        const object = readYaml(document);
        if (object === null) continue;
        const field = (key: string) => (isMap(object) ? String(object.get(key) ?? '') : '');
        const isDefinition = field('apiVersion').startsWith('apiextensions.k8s.io');
        findings.note('ERROR', name, isDefinition ? undefined : "apiVersion is not in 'apiextensions.k8s.io'");
        const kind = field('kind');
        findings.note(
          'ERROR',
          name,
          kind === 'CustomResourceDefinition' ? undefined : "object kind is not 'CustomResourceDefinition'",
        );
      } catch (error) {
        const { message } = error as Error;
        findings.note('ERROR', name, `unable to parse YAML: error converting YAML to JSON: ${message}`);
        return;
      }
    }
  }
}
