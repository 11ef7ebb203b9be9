import { setTimeout as wait } from 'node:timers/promises';

import { embeddedProvider } from '../src/api-server/providers/embedded.ts';
import type { ComponentContext } from '../src/component/define-component.ts';
import { Targets } from '../src/target/target.ts';

/** An operator of its own process, as far as the provider sees one: makes the API server, says so, and waits to be killed. */
const [dataDir, main, name] = process.argv.slice(2);
const provider = embeddedProvider({
  dataDir: dataDir!,
  command: [process.execPath, main!],
  connect: new Targets().connect,
});
const context = { key: { namespace: 'default', name }, log: { info: () => undefined } };
while (!(await provider.ensure(context as unknown as ComponentContext<'APIServer'>)).ready) await wait(100);
process.stdout.write('ready\n');
await wait(600_000);
