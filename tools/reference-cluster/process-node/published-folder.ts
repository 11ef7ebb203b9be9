import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { VolumeFiles } from './volume-files.ts';

/**
 * Writes the files of a volume so that a reader sees all old ones or all new ones, as a kubelet does: they are in a folder of
 * their own, `..data` names the folder that counts, and each file is a link through it. Says whether anything changed.
 */
export async function publishFiles(folder: string, files: VolumeFiles): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const data = join(folder, '..data');
  const before = await readlink(data).catch(() => undefined);
  if (before !== undefined && (await holdsExactly(join(folder, before), files))) return false;

  const next = await mkdtemp(join(folder, '..version-'));
  await chmod(next, 0o755);
  for (const [path, { content, mode }] of files) {
    const file = join(next, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    // Apart from writing it: the mask of this process would take bits off.
    await chmod(file, mode);
  }
  await symlink(basename(next), `${data}-next`);
  await rename(`${data}-next`, data);

  const wanted = new Set([...files.keys()].map((path) => path.split('/')[0]!));
  const there = (await readdir(folder)).filter((name) => !name.startsWith('..'));
  for (const name of wanted) if (!there.includes(name)) await symlink(join('..data', name), join(folder, name));
  for (const name of there) if (!wanted.has(name)) await rm(join(folder, name));
  if (before !== undefined) await rm(join(folder, before), { recursive: true });
  return true;
}

async function holdsExactly(folder: string, files: VolumeFiles): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  if (entries.filter((entry) => entry.isFile()).length !== files.size) return false;
  for (const [path, { content }] of files) {
    const there = await readFile(join(folder, path)).catch(() => undefined);
    if (!there?.equals(content)) return false;
  }
  return true;
}
