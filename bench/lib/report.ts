import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A promise about a figure and what became of it. */
export interface Bar {
  readonly text: string;
  /** What was measured, as text. */
  readonly value: string;
  readonly holds: boolean;
  /** Where it is missed: by how much and why. */
  readonly why?: string;
}

export interface Report {
  /** Name of the npm script, such as `bench:runtime`. */
  readonly script: string;
  readonly title: string;
  /** How it was measured. */
  readonly method: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
  readonly notes?: readonly string[];
}

const resultsFile = join(import.meta.dirname, '..', 'RESULTS.md');

/** Prints a report; with `--record` on the command line it also replaces its section of `bench/RESULTS.md`. */
export async function publish(report: Report, args: readonly string[] = process.argv.slice(2)): Promise<void> {
  const text = render(report, args);
  process.stdout.write(`\n${text}\n`);
  if (args.includes('--record')) await record(report.script, text);
}

function render(report: Report, args: readonly string[]): string {
  const options = args.filter((argument) => argument !== '--record').join(' ');
  const command = `npm run ${report.script}${options ? ` -- ${options}` : ''}`;
  const versions = { Node: process.version, ...report.versions };
  return [
    `## ${report.title}`,
    '',
    `\`${command}\`, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, ${machine()}.`,
    `Versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version.replace(/^v/, '')}`)
      .join(', ')}.`,
    '',
    report.method,
    '',
    ...(report.bars.length > 0 ? [...markdownTable(barTable(report.bars)), ''] : []),
    ...report.tables.flatMap((table) => [`**${table.title}**`, '', ...markdownTable(table), '']),
    ...(report.notes ?? []).map((note) => `- ${note}`),
    ...(report.notes?.length ? [''] : []),
  ].join('\n');
}

function barTable(bars: readonly Bar[]): Table {
  return {
    title: 'Bars',
    columns: ['bar', 'measured', ''],
    rows: bars.map(({ text, value, holds, why }) => [text, value, holds ? 'pass' : `**miss**${why ? `: ${why}` : ''}`]),
  };
}

function markdownTable({ columns, rows }: Table): string[] {
  const widths = columns.map((column, i) => Math.max(column.length, 1, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(Math.max(1, width - 1))}:`)).join(' | ')} |`;
  return [line(columns), rule, ...rows.map(line)];
}

function machine(): string {
  const load = loadavg()[0]!.toFixed(1);
  return `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 1e9)} GB, load ${load} at the end`;
}

async function record(script: string, text: string): Promise<void> {
  const begin = `<!-- ${script} -->`;
  const end = `<!-- end of ${script} -->`;
  const old = await readFile(resultsFile, 'utf8').catch(() => heading);
  const section = `${begin}\n\n${text.trimEnd()}\n\n${end}`;
  const start = old.indexOf(begin);
  const stop = old.indexOf(end);
  const merged =
    start < 0 || stop < 0
      ? `${old.trimEnd()}\n\n${section}\n`
      : old.slice(0, start) + section + old.slice(stop + end.length);
  await writeFile(resultsFile, merged);
}

const heading = `# Results

Each section is written by the command it names (add \`-- --record\`). Compare the ratios: both sides ran on the same machine in the same run.
`;

export function ratio(ours: number, theirs: number): string {
  return Number.isFinite(ours / theirs) ? `${(ours / theirs).toFixed(2)}×` : '–';
}

/** A figure with as many digits as mean something. */
export function figure(value: number, unit = ''): string {
  if (!Number.isFinite(value)) return '–';
  const text = value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  return unit ? `${text} ${unit}` : text;
}
