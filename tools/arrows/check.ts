import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { arrows, foldersOpen, mermaid, testArrows, testOnly } from './arrows.ts';
import { innerImport, type InnerImport, mutualFolders } from './folders.ts';

const root = join(import.meta.dirname, '..', '..');
const importPattern = /(?:from|import)\s*\(?\s*'([^']+)'/g;

async function* sources(directory: string): AsyncGenerator<string> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (['node_modules', 'generated', 'templates'].includes(entry.name)) continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}

function isTest(path: string): boolean {
  return /\.test\.ts$|\/test\/|\/testing\//.test(path);
}

const problems: string[] = [];
let files = 0;

for (const entry of await readdir(join(root, 'packages'), { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const allowed = arrows[entry.name];
  if (!allowed) {
    problems.push(`packages/${entry.name}: no arrows declared; add it to tools/arrows/arrows.ts`);
    continue;
  }
  const packageFolder = join(root, 'packages', entry.name);
  const inner: InnerImport[] = [];
  for await (const path of sources(packageFolder)) {
    files += 1;
    const where = relative(root, path);
    for (const [, target = ''] of (await readFile(path, 'utf8')).matchAll(importPattern)) {
      if (target.startsWith('.')) {
        const leaves = relative(packageFolder, join(path, '..', target)).startsWith('..');
        if (leaves && !isTest(where)) problems.push(`${where}: '${target}' reaches out of its package`);
        const found = isTest(where) ? undefined : innerImport(join(packageFolder, 'src'), path, target);
        if (found) inner.push(found);
        continue;
      }
      const room = /^@slipway\/([^/]+)/.exec(target)?.[1];
      if (room === undefined || room === entry.name || allowed.includes(room)) continue;
      if (isTest(where) && [...testOnly, ...(testArrows[entry.name] ?? [])].includes(room)) continue;
      problems.push(`${where}: ${entry.name} must not know ${room}`);
    }
  }
  if (!foldersOpen.includes(entry.name)) {
    for (const problem of mutualFolders(inner)) problems.push(`packages/${entry.name}: ${problem}`);
  }
}

const page = join(root, 'docs', 'architecture.md');
const written = await readFile(page, 'utf8');
const drawn = written.replace(
  /(<!-- arrows: [^>]*-->\n)[^]*(<!-- \/arrows -->)/,
  (_all, open: string, close: string) => `${open}\n\`\`\`mermaid\n${mermaid()}\n\`\`\`\n\n${close}`,
);
if (drawn !== written) {
  if (process.argv.includes('--write')) await writeFile(page, drawn);
  else problems.push('docs/architecture.md: the picture is not current; run `node tools/arrows/check.ts --write`');
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else {
  console.log(`package arrows hold in ${files} files`);
}
