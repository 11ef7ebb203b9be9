/**
 * For a process that ends within moments. V8 compiles with Maglev what was called thousands of times, not hundreds: most of that code came
 * when nobody needed it any more, and the thread that makes it keeps the other waiting. It does not compile once more with TurboFan.
 * It takes memory in large steps, because most of what a small step would look through is still in use, and keeps all bytecode. All this
 * holds for the whole process.
 */
export function keepProcessBrief(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of [
    '--no-turbofan',
    '--invocation-count-for-maglev=4000',
    '--semi-space-growth-factor=32',
    '--no-flush-bytecode',
  ])
    setFlagsFromString(flag);
}
