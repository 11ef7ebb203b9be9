import type { Reporter, TestModule } from 'vitest/node';

/** A test that failed and passed when it was tried again. */
interface Flake {
  readonly file: string;
  readonly name: string;
  readonly retries: number;
}

/**
 * Names every test that passed only when it was tried again, at the end of the run, and lets the run fail for it: a second try
 * is there to tell a flake from a fault, not to hide it.
 */
export class FlakyReporter implements Reporter {
  readonly #print: (text: string) => void;

  constructor(print: (text: string) => void = (text) => process.stderr.write(text)) {
    this.#print = print;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const flakes = modules.flatMap(flakesOf);
    if (flakes.length === 0) return;
    const lines = flakes.map(({ file, name, retries }) => ` FLAKY  ${file} > ${name} (passed after ${retries} more)`);
    this.#print(`\n${lines.join('\n')}\n\n${flakes.length} flaky: the run has failed; make them pass the first time\n`);
    process.exitCode = 1;
  }
}

function flakesOf(module: TestModule): Flake[] {
  const flakes: Flake[] = [];
  for (const test of module.children.allTests()) {
    const { flaky = false, retryCount = 0 } = test.diagnostic() ?? {};
    if (flaky) flakes.push({ file: module.relativeModuleId, name: test.fullName, retries: retryCount });
  }
  return flakes;
}
