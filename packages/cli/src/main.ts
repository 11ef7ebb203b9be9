#!/usr/bin/env node
import { runBriefly } from './brief-program.ts';
import { keepCompiledCode } from './compiled-code.ts';

if (!(await runBriefly(import.meta.dirname, process.argv.slice(2)))) {
  // Before anything large is loaded: from the second start on, sources are neither stripped nor compiled again.
  keepCompiledCode();
  const { runWhole } = await import('./whole-program.ts');
  await runWhole();
}
