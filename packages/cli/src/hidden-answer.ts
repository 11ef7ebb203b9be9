import { openSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { CommandError, exitCodes } from '@slipway/kube/command';

/** Asks whoever sits at the terminal, even when standard input and output go elsewhere, and shows nothing of the answer. */
export async function askHidden(question: string): Promise<string | undefined> {
  let terminal: number;
  try {
    terminal = openSync(process.platform === 'win32' ? String.raw`\\.\CON` : '/dev/tty', 'r+');
  } catch {
    return undefined;
  }
  const keys = new ReadStream(terminal);
  try {
    writeSync(terminal, `${question} `);
    keys.setRawMode(true);
    return await hiddenAnswer(keys);
  } finally {
    keys.setRawMode(false);
    writeSync(terminal, '\n');
    keys.destroy();
  }
}

/** What is typed until the line ends, as a terminal would have it without Node between: what was taken back is gone. */
export async function hiddenAnswer(keys: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let answer: string[] = [];
  for await (const bytes of keys) {
    for (const key of decoder.decode(bytes, { stream: true })) {
      if (key === '\r' || key === '\n' || key === '\u0004') return answer.join('');
      if (key === '\u0003') throw new CommandError('interrupted', { exitCode: exitCodes.interrupted });
      if (key === '\u007F' || key === '\b') answer.pop();
      else if (key === '\u0015') answer = [];
      else answer.push(key);
    }
  }
  return answer.join('');
}
