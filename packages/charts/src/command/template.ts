import { defineCommand } from '@slipway/kube/command';
import { bytesToText } from '../go/bytes.ts';
import { checkReleaseName } from '../release/release-name.ts';
import { defaultKubeVersion } from '../render/capabilities.ts';
import { renderChart } from '../render/render.ts';
import { templatePieces } from '../render/template-output.ts';
import { chartArgument, chartFlags, dependencyFlag, readChart } from './chart-flags.ts';
import { helmsOwnTemplating } from './helm-flags.ts';
import { localTimeZone } from './local-time-zone.ts';
import { explained } from './release-flags.ts';
import { nameAndChart } from './release-name.ts';
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
    ...dependencyFlag,
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
    'kube-version': {
      type: 'string',
      value: 'version',
      summary: `the Kubernetes version templates see; ${defaultKubeVersion} by default`,
    },
    'api-versions': {
      type: 'string',
      short: 'a',
      repeated: true,
      value: 'group/version',
      summary: 'API versions templates see besides the usual ones',
    },
    'output-dir': {
      type: 'string',
      value: 'folder',
      summary: 'write each template to a file of its own below this folder',
      perCall: true,
    },
    'release-name': {
      type: 'boolean',
      summary: 'with --output-dir: below a folder of the name of the release',
      perCall: true,
    },
    'name-template': { type: 'string', value: 'template', summary: 'a template that makes the name of the release' },
    'generate-name': {
      type: 'boolean',
      short: 'g',
      summary: `the release has no name of its own: it is ${defaultName}, as without it`,
      perCall: true,
    },
    'skip-schema-validation': { type: 'boolean', summary: 'do not check values against values.schema.json' },
  },
  knownElsewhere: helmsOwnTemplating,
  examples: [
    { line: 'slipway chart template shop ./charts/web -f prod.yaml --set replicas=3' },
    { line: 'slipway chart template ./charts/web --show-only templates/service.yaml', comment: 'one template only' },
  ],
  async run({ args, flags, terminal }) {
    terminal.endsSoon?.();
    const folder = flags['output-dir'];
    await explained(async () => {
      const output = folder === undefined ? undefined : await import('./output-dir.ts');
      const { name, chart: path } = nameAndChart(args, flags, () => terminal.clock.now(), defaultName);
      const { chart, values } = await readChart(path, flags, terminal);
      checkReleaseName(name);
      const rendered = await renderChart(chart, {
        values,
        release: {
          name,
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
        timeZone: localTimeZone(terminal.env),
      });
      if (output !== undefined) {
        await output.writeOutput(terminal, folder!, rendered, {
          includeCrds: flags['include-crds'],
          hooks: !flags['no-hooks'],
          skipTests: flags['skip-tests'],
          releaseName: flags['release-name'] ? name : undefined,
        });
        // What is left of the manifest, as helm has it.
        return terminal.out('\n');
      }
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
