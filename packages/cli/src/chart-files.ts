import { CommandError, exitCodes, yamlStream, yamlText, type KubeObject } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { installObjects, outsideImage, type InstallOptions } from './install-objects.ts';
import type { OutsideOperator } from './outside-operator.ts';

/** What Helm fills in, by a word that stands nowhere else. */
const filled = {
  namespace: { word: 'slipway-chart-namespace', template: '{{ .Release.Namespace }}' },
  image: { word: 'slipway-chart-image', template: '{{ .Values.image | quote }}' },
  replicas: { word: 'slipway-chart-replicas', template: '{{ .Values.replicas }}' },
} as const;

/** The files of a Helm chart that installs an operator of another package as `slipway install` would, by path. */
export function chartFiles(
  operator: OperatorDescription,
  { packageName, version }: OutsideOperator,
  options: InstallOptions,
): Map<string, string> {
  const objects = installObjects([operator], {
    ...options,
    namespace: filled.namespace.word,
    image: filled.image.word,
  }).filter(({ kind }) => kind !== 'Namespace');
  const isDefinition = ({ kind }: KubeObject) => kind === 'CustomResourceDefinition';
  return new Map([
    [
      'Chart.yaml',
      yamlText({
        apiVersion: 'v2',
        name: packageName.replace(/^@.*\//, ''),
        description: operator.summary,
        type: 'application',
        version,
        appVersion: version,
      }),
    ],
    ['values.yaml', yamlText({ image: outsideImage({ packageName, version }), replicas: options.replicas ?? 2 })],
    ['templates/definitions.yaml', templateOf(objects.filter(isDefinition).map(kept))],
    ['templates/operator.yaml', templateOf(objects.filter((object) => !isDefinition(object)).map(scalable))],
  ]);
}

/** A definition takes everybody's objects of its kind along: it stays when the release goes. */
function kept(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function scalable(object: KubeObject): KubeObject {
  if (object.kind !== 'Deployment') return object;
  return { ...object, spec: { ...(object['spec'] as object), replicas: filled.replicas.word } };
}

/** Braces of the objects themselves are no templates. */
function templateOf(objects: readonly KubeObject[]): string {
  const text = yamlStream(objects).replaceAll('{{', '{{ "{{" }}');
  return Object.values(filled).reduce((result, { word, template }) => result.replaceAll(word, template), text);
}

/** The one operator a chart is for. */
export function chartOperator(
  operators: readonly OperatorDescription[],
  packageOf: (operator: OperatorDescription) => OutsideOperator | undefined,
): { operator: OperatorDescription; outside: OutsideOperator } {
  const [operator, ...others] = operators;
  const outside = operator && packageOf(operator);
  if (!outside || others.length > 0)
    throw new CommandError('a chart is written for one operator of another package', {
      hint: 'name its package: slipway install --operator ./my-operator --write-chart chart; the chart of ours is in deploy/chart',
      exitCode: exitCodes.usage,
    });
  return { operator, outside };
}
