import { defineCommand } from '@slipway/kube/command';
import { makeEnvironment } from '../functions/environment.ts';
import { helmFunctions } from '../functions/index.ts';
import { bytesToText } from '../go/bytes.ts';
import { renderChart } from '../render/render.ts';
import { templatePieces } from '../render/template-output.ts';
import { TemplateSet } from '../template/template-set.ts';
import { chartArgument, chartFlags, readChart } from './chart-flags.ts';
import { helmsOwnTemplating } from './helm-flags.ts';
import { explained } from './release-flags.ts';
import { valueFlags } from './value-flags.ts';

const defaultName = 'release-name';

/** `slipway chart template`: Helm's flags, Helm's output, no cluster. */
export const templateCommand = defineCommand({
  arguments: [
    { name: 'name-or-chart', summary: 'name of the release; may be left out', required: true },
    { name: 'chart', summary: chartArgument },
  ],
  flags: {
    ...valueFlags,
    ...chartFlags,
    namespace: {
      type: 'string',
      short: 'n',
      value: 'namespace',
      summary: 'namespace of the release',
      default: 'default',
    },
    'show-only': {
      type: 'string',
      short: 's',
      repeated: true,
      value: 'template',
      summary: 'print only what comes from this template',
      perCall: true,
    },
    'include-crds': { type: 'boolean', summary: 'print the files under crds/, too' },
    'skip-tests': { type: 'boolean', summary: 'leave out hooks that are tests' },
    'no-hooks': { type: 'boolean', summary: 'leave out hooks' },
    'is-upgrade': { type: 'boolean', summary: 'templates see an upgrade instead of an installation' },
    'kube-version': { type: 'string', value: 'version', summary: 'the Kubernetes version templates see' },
    'api-versions': {
      type: 'string',
      short: 'a',
      repeated: true,
      value: 'group/version',
      summary: 'API versions templates see besides the usual ones',
    },
    'name-template': { type: 'string', value: 'template', summary: 'a template that makes the name of the release' },
    'skip-schema-validation': { type: 'boolean', summary: 'do not check values against values.schema.json' },
  },
  knownElsewhere: helmsOwnTemplating,
  examples: [
    { line: 'slipway chart template shop ./charts/web -f prod.yaml --set replicas=3' },
    { line: 'slipway chart template ./charts/web --show-only templates/service.yaml', comment: 'one template only' },
  ],
  async run({ args, flags, terminal }) {
    terminal.endsSoon?.();
    const [first, second] = args as [string, string | undefined];
    await explained(async () => {
      const { chart, values } = await readChart(second ?? first, flags, terminal);
      const rendered = await renderChart(chart, {
        values,
        release: {
          name: second === undefined ? releaseName(flags['name-template']) : first,
          namespace: flags.namespace,
          isUpgrade: flags['is-upgrade'],
        },
        capabilities: {
          kubeVersion: flags['kube-version'],
          extraApiVersions: flags['api-versions'].flatMap((versions) => versions.split(',')),
        },
        skipSchemaValidation: flags['skip-schema-validation'],
        clock: terminal.clock,
        random: terminal.random,
        timeZone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
      });
      const pieces = templatePieces(rendered, {
        includeCrds: flags['include-crds'],
        hooks: !flags['no-hooks'],
        skipTests: flags['skip-tests'],
        showOnly: flags['show-only'],
      });
      for (const piece of pieces) {
        if (typeof piece === 'string') terminal.out(piece);
        else if (terminal.outBytes) terminal.outBytes(piece);
        else terminal.out(bytesToText(piece));
      }
    });
  },
});

function releaseName(template: string | undefined): string {
  if (template === undefined) return defaultName;
  const set = new TemplateSet({ functions: helmFunctions, environment: makeEnvironment() });
  set.add('name-template', template);
  return set.execute('name-template', undefined);
}
