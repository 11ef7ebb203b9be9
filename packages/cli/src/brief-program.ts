import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { keepProcessBrief } from './brief-process.ts';
import { compiledFolder } from './compiled-code.ts';
import { KeptBytecode } from './kept-bytecode.ts';

/** What a brief program answers: whether it did the command. */
type BriefProgram = () => Promise<boolean>;

/**
 * Some commands end within a quarter of a second, most of which Node would take to find their modules and to compile their functions one by
 * one. Such a command is built once more, as one script without what it rarely needs, and the bytecode of what ran is kept beside
 * Node's own compiled code. Answers whether there was such a program and it did the command; otherwise nothing has happened yet.
 *
 * @param folder where the script lies: `brief-chart-template.cjs` for `slipway chart template`
 */
export async function runBriefly(folder: string, argv: readonly string[]): Promise<boolean> {
  const [command = '', subcommand = ''] = argv;
  if (!isName(command) || !isName(subcommand)) return false;
  const file = join(folder, `brief-${command}-${subcommand}.cjs`);
  if (!existsSync(file)) return false;
  // Bytecode holds for the flags it was made with, so they come before the script.
  keepProcessBrief();
  const kept = new KeptBytecode(file, readFileSync(file, 'latin1'), compiledFolder(process.env));
  const program = kept.run() as BriefProgram;
  const keep = (code: number) => {
    if (code === 0) kept.keep();
  };
  // Before the program: it may end the process itself.
  process.once('exit', keep);
  const isDone = await program();
  // The processor time would be that of the whole program, and no later run be more work.
  if (!isDone) process.off('exit', keep);
  return isDone;
}

const isName = (word: string) => /^[a-z]+$/.test(word);
