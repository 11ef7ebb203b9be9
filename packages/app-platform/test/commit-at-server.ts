import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const branch = 'refs/heads/main';
/** Nothing of the machine's own configuration counts. */
const environment = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/**
 * Somebody's commit of files (`undefined` removes one, or a folder), put into the bare repository of a server. This takes one process; a
 * clone, a commit and a push take thirty. Gives the commit. As a push it fails when the branch has moved on meanwhile.
 */
export async function commitAtServer(
  repository: string,
  files: Readonly<Record<string, string | undefined>>,
  message: string,
): Promise<string> {
  const parent = await readFile(join(repository, branch), 'utf8').catch(() => undefined);
  const importing = run('git', ['fast-import', '--quiet', '--date-format=now'], { cwd: repository, env: environment });
  const input = importing.child.stdin!;
  // Git closes its input early when it refuses.
  input.on('error', () => undefined);
  input.end(
    [
      `commit ${branch}`,
      'mark :1',
      'committer user <user@example.com> now',
      data(message),
      ...(parent === undefined ? [] : [`from ${parent.trim()}`]),
      ...Object.entries(files).map(([path, text]) =>
        text === undefined ? `D ${path}` : `M 100644 inline ${path}\n${data(text)}`,
      ),
      'get-mark :1',
      '',
    ].join('\n'),
  );
  const { stdout } = await importing;
  return stdout.trim();
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}
