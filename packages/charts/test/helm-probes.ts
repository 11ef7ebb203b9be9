import { spawnSync } from 'node:child_process';
import { textToBytes } from '../src/go/bytes.ts';
import { loadFiles, renderChart } from '../src/index.ts';
import { sampleValues, type Snippet } from './snippets.ts';

/** What came of a snippet: base64, or what was wrong. */
export interface Answer {
  readonly output?: string;
  readonly error?: string;
}

/** Helm's own engine answers all snippets in one process. */
export function askHelm(path: string, snippets: readonly Snippet[]): Answer[] {
  const input = snippets
    .map(({ template, values }) => JSON.stringify({ template, values: values ?? sampleValues }))
    .join('\n');
  const { stdout, status, stderr } = spawnSync(path, { input, maxBuffer: 1 << 30, timeout: 240_000 });
  if (status !== 0) throw new Error(stderr.toString());
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

const helpers = '{{ define "h" }}<{{ . }}>{{ end }}{{ define "loop" }}{{ include "loop" . }}{{ end }}';

/** The snippet stands alone in a NOTES.txt, which need not be YAML. */
export async function ours({ template, values }: Snippet): Promise<Answer> {
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

export function shown({ output, error }: Answer): string {
  return error ?? JSON.stringify(Buffer.from(output ?? '', 'base64').toString());
}
