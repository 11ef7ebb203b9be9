import type { Reporter, TestModule } from 'vitest/node';

/** A test that failed and passed when it was tried again. */
interface Flake {
  readonly file: string;
  readonly name: string;
  readonly retries: number;
}

/**
 * Reports every test that passed only when it was tried again as a failure, at the end of the run: a second try is there to tell a flake from a
 * fault, not to hide it. The exit code is that of what failed twice; `SLIPWAY_FLAKY=fail` lets it fail for flakes too, for whoever hunts them.
 */
export class FlakyReporter implements Reporter {
  readonly #print: (text: string) => void;

  readonly #fail: boolean;

  constructor(
    print: (text: string) => void = (text) => process.stderr.write(text),
    fail = process.env['SLIPWAY_FLAKY'] === 'fail',
  ) {
    this.#print = print;
    this.#fail = fail;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const flakes = modules.flatMap(flakesOf);
    if (flakes.length === 0) return;
    const lines = flakes.map(({ file, name, retries }) => ` FLAKY  ${file} > ${name} (passed after ${retries} more)`);
    this.#print(`\n${lines.join('\n')}\n\n${flakes.length} failed the first time; make them pass\n`);
    if (this.#fail) process.exitCode = 1;
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
