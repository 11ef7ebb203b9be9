import { access, glob, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** A page without its code: what looks like a link or a heading there is none. */
function prose(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));
}

/** The names headings get on the page, as GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  return [...prose(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with a link of a page; nothing when it leads somewhere. */
async function problemOf(page: string, link: string): Promise<string | undefined> {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  try {
    await access(join(root, target));
  } catch {
    return `${page}: ${link} leads to no file`;
  }
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  const known = anchorsOf(await readFile(join(root, target), 'utf8'));
  return known.includes(anchor) ? undefined : `${page}: ${link} leads to no heading`;
}

test('every link between pages leads to a file and a heading that are there', async () => {
  const wrong: string[] = [];
  let links = 0;
  for await (const page of glob(['*.md', '{docs,bench,deploy,examples,packages,tools}/**/*.md'], {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**'],
  })) {
    const text = prose(await readFile(join(root, page), 'utf8'));
    for (const [, link = ''] of text.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)) {
      links += 1;
      const problem = await problemOf(page, link);
      if (problem !== undefined) wrong.push(problem);
    }
  }
  expect(wrong).toEqual([]);
  expect(links).toBeGreaterThan(50);
});
