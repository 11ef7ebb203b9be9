/**
 * For a process that ends within moments: V8 compiles with Maglev, and not once more with TurboFan, whose code would come when nobody needs
 * it any more. It holds for the whole process.
 */
export function keepProcessBrief(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--no-turbofan');
}
