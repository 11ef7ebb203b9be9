import { runCreate } from './create.ts';

process.exitCode = await runCreate(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  cwd: process.cwd(),
});
