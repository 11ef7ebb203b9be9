import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const tsc = join('node_modules', 'typescript', 'bin', 'tsc');

export interface Build {
  /** The repository. */
  readonly root: string;
  /** The modules to begin with. */
  readonly entries: readonly string[];
  /** The modules of our own packages by what others import, e.g. `@slipway/kube`. */
  readonly modules: Readonly<Record<string, string>>;
  readonly outDir: string;
}

/**
 * Builds modules and everything they import, for the oldest Node that is published for. What no entry reaches is not built:
 * tests and their fixtures stay out by themselves.
 */
export async function build(what: Build): Promise<void> {
  const { root, outDir } = what;
  await mkdir(outDir, { recursive: true });
  const project = join(outDir, 'tsconfig.json');
  await writeFile(project, JSON.stringify(settings(what), null, 2));
  try {
    await promisify(execFile)(process.execPath, [join(root, tsc), '-p', project], { maxBuffer: 1 << 26 });
  } catch (error) {
    throw new Error(`the packages do not compile:\n${(error as { stdout: string }).stdout}`, { cause: error });
  }
}

function settings({ root, entries, modules, outDir }: Build): object {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      // What Node 22 knows: what is newer is a type error here, and `using` becomes try and finally.
      target: 'es2024',
      lib: ['es2024', 'esnext.iterator', 'esnext.collection', 'esnext.array'],
      // Found by way of `node_modules` they would count as somebody else's, which are not built.
      paths: Object.fromEntries(Object.entries(modules).map(([name, file]) => [name, [file]])),
      typeRoots: [join(root, 'node_modules', '@types')],
      noEmit: false,
      noEmitOnError: true,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      sourceMap: true,
      inlineSources: true,
      rootDir: join(root, 'packages'),
      outDir,
    },
    include: [],
    files: entries,
  };
}
