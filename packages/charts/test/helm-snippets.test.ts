import { spawnSync } from 'node:child_process';
import { findOracle } from '@slipway/oracles';
import { expect, it } from 'vitest';
import { textToBytes } from '../src/go/bytes.ts';
import { loadFiles, renderChart } from '../src/index.ts';
import { sampleValues, snippets, type Snippet } from './snippets.ts';

/** Helm's own engine answers all snippets in one process; ours must say the same, or both must fail. */
const oracle = await findOracle('helm-probes');
if (!oracle.available) process.stdout.write(`SKIPPED snippets against Helm's engine: ${oracle.reason}\n`);

interface Answer {
  readonly output?: string;
  readonly error?: string;
}

function askHelm(path: string): Answer[] {
  const input = snippets
    .map(({ template, values }) => JSON.stringify({ template, values: values ?? sampleValues }))
    .join('\n');
  const { stdout, status, stderr } = spawnSync(path, { input, maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error(stderr.toString());
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

const helpers = '{{ define "h" }}<{{ . }}>{{ end }}{{ define "loop" }}{{ include "loop" . }}{{ end }}';

/** The snippet stands alone in a NOTES.txt, which need not be YAML. */
async function ours({ template, values }: Snippet): Promise<{ output?: string; error?: string }> {
  const files = {
    'Chart.yaml': 'apiVersion: v2\nname: probe\nversion: 1.2.3\nappVersion: "4.5"\n',
    'templates/NOTES.txt': template,
    'templates/_h': helpers,
    'conf/a.txt': 'one\ntwo\n',
    'conf/b.json': '{}',
  };
  const chart = await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
  try {
    const { notes } = await renderChart(chart, {
      values: values ?? sampleValues,
      release: { name: 'rel', namespace: 'ns' },
    });
    return { output: Buffer.from(textToBytes(notes)).toString('base64') };
  } catch (error) {
    return { error: (error as Error).message.replaceAll('templates/NOTES.txt', 'templates/t') };
  }
}

/** The template is called `t` there and `NOTES.txt` here; nothing else may differ. */
function named(snippet: Snippet): boolean {
  return snippet.template.includes('.Template.Name');
}

it.runIf(oracle.available)(
  'says what Helm says to thousands of snippets, or fails where Helm fails',
  { timeout: 300_000 },
  async () => {
    const answers = askHelm(oracle.available ? oracle.path : '');
    const differences: string[] = [];
    let sameComplaint = 0;
    let failures = 0;
    for (const [index, snippet] of snippets.entries()) {
      if (named(snippet)) continue;
      const helm = answers[index]!;
      const mine = await ours(snippet);
      const bothFail = helm.error !== undefined && mine.error !== undefined;
      if (bothFail) {
        failures += 1;
        if (helm.error === mine.error) sameComplaint += 1;
      } else if (helm.error !== undefined || mine.error !== undefined || (helm.output ?? '') !== mine.output) {
        differences.push(`${snippet.template}\n  helm: ${shown(helm)}\n  ours: ${shown(mine)}`);
      }
    }
    process.stdout.write(
      `${snippets.length} snippets: ${differences.length} differ, ${failures} fail in both, ${sameComplaint} of them with the same words\n`,
    );
    expect(differences).toEqual([]);
    expect(snippets.length).toBeGreaterThan(600);
    expect(sameComplaint / failures).toBeGreaterThan(0.98);
  },
);

function shown({ output, error }: Answer): string {
  return error ?? JSON.stringify(Buffer.from(output ?? '', 'base64').toString());
}
