/**
 * For a process that ends within moments. V8 compiles with Maglev, and not once more with TurboFan, whose code would come when nobody needs
 * it any more; it takes memory in large steps, because most of what a small step would look through is still in use; and it keeps all
 * bytecode. It holds for the whole process.
 */
export function keepProcessBrief(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of ['--no-turbofan', '--semi-space-growth-factor=32', '--no-flush-bytecode'])
    setFlagsFromString(flag);
}
