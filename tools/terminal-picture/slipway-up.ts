import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { Screen, textOf, type Line } from './screen.ts';
import { svgOf } from './svg.ts';

/** Draws `docs/images/slipway-up.svg` from what `slipway up` really writes to a terminal. Needs `script` of util-linux. */
const root = resolve(import.meta.dirname, '..', '..');
const columns = 120;
const target = join(root, 'docs', 'images', 'slipway-up.svg');
/** Of the Git server of an example; as good as gone, but no sight for a page. */
const password = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
/** More additions in a row than this are summed up in the picture. */
const shownInARow = 4;

const home = await mkdtemp(join(tmpdir(), 'slipway-picture-'));
try {
  const screen = await record();
  const prompt: Line = {
    spans: [
      { text: '$ ', codes: [32] },
      { text: 'npx slipway up', codes: [1] },
    ],
    atMs: 0,
  };
  const lines = [prompt, ...shortened(screen.lines())].map((line) => withoutHome(line));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(
    target,
    svgOf(lines, { columns, title: 'slipway up: the operators start, and their examples become ready' }),
  );
  console.log(`${target}: ${lines.length} lines`);
} finally {
  await rm(home, { recursive: true, force: true });
}

/** Runs it until every example is ready and the table has been drawn, then presses Ctrl-C. */
function record(): Promise<Screen> {
  const main = join(root, 'packages', 'cli', 'src', 'main.ts');
  const command = `stty cols ${columns} rows 60; exec "${process.execPath}" "${main}" up`;
  const { NO_COLOR: _noColour, ...env } = process.env;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...env, HOME: home, XDG_STATE_HOME: '', TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const screen = new Screen();
  const begun = performance.now();
  return new Promise((resolvePromise, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error('slipway up ended before everything was ready')));
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (chunk: string) => {
      screen.write(chunk, performance.now() - begun);
      const table = screen.lines().map(textOf);
      const from = table.findIndex((line) => line.startsWith('OPERATOR'));
      const below = from < 0 ? [] : table.slice(from + 1);
      const rows = below.slice(0, below.indexOf('')).filter((line) => /^[a-z]/.test(line));
      // Every state in the table stands in the column of its title.
      if (rows.length < 2 || !rows.every((row) => / Ready /.test(row)) || !rows.some((row) => row.startsWith('btp')))
        return;
      child.removeAllListeners('exit');
      child.stdout.removeAllListeners('data');
      child.stdin.write('\u0003');
      resolvePromise(screen);
    });
  });
}

/** Dozens of additions tell no more than the first few. */
function shortened(lines: readonly Line[]): Line[] {
  const kept: Line[] = [];
  for (let index = 0; index < lines.length;) {
    let end = index;
    while (end < lines.length && / \+ /.test(textOf(lines[end]!))) end += 1;
    const additions = lines.slice(index, end);
    if (additions.length > shownInARow + 1) {
      const hidden = additions.length - shownInARow;
      kept.push(...additions.slice(0, shownInARow));
      kept.push({ spans: [{ text: `           … ${hidden} more`, codes: [2] }], atMs: additions[shownInARow]!.atMs });
    } else kept.push(...additions);
    if (end === index) {
      kept.push(lines[index]!);
      end += 1;
    }
    index = end;
  }
  return kept;
}

/** The picture is not about one machine. */
function withoutHome(line: Line): Line {
  const shown = (text: string) => text.replaceAll(home, '~').replace(password, '…');
  return { ...line, spans: line.spans.map((span) => ({ ...span, text: shown(span.text) })) };
}
