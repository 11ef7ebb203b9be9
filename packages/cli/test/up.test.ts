import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ConfigMap, connect, Deployment, loadKubeConfig, Namespace } from '@slipway/kube';
import { expect, test, describe } from 'vitest';

import { Call, call, readableByOthers, temporaryFolder } from './kit.ts';

async function busyPort(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

describe('up', () => {
  test('piped, it tells the life of the example line by line and ends with 0 at Ctrl-C', async () => {
    await using home = await temporaryFolder();
    const running = new Call(['up', 'operand', '--port', '0'], { env: { HOME: home.path } });
    await running.says(/Operand hello → Ready\n/);
    const beside = await call(['status', 'operand/hello', '-o', 'name'], { env: { HOME: home.path } });
    expect(beside.out).toBe('operand.operand.run.cloud.google.com/hello\n');
    expect(await running.stop()).toBe(0);
    expect(running.err).toBe('');
    const story = [
      /^Slipway is up: Operand on https:\/\/127\.0\.0\.1:\d+\n\n/,
      / {2}export KUBECONFIG=.*\/kubeconfig-\d+\n {2}kubectl get operands\n/,
      /operand\/hello-operand {2}a namespace/,
      /s {2}Operand hello → New\n/,
      /s {4}\+ Namespace hello\n/,
      /s {4}\+ Deployment hello\/web\n/,
      /s {6}Deployment hello\/web is ready\n/,
      /s {4}\+ ConfigMap hello\/installed\n/,
      /s {2}Operand hello → Ready\n/,
      /stopped; the cluster was in memory and is gone \(--data DIR keeps it\)\n$/,
    ];
    let rest = running.out;
    for (const line of story) {
      expect(rest).toMatch(line);
      rest = rest.slice(line.exec(rest)!.index);
    }
    expect(running.out).not.toContain('\u001B');
    // The kubeconfig led to what is gone.
    expect(await readdir(join(home.path, '.local', 'state', 'slipway'))).toEqual([]);
  });

  test('on a terminal a table stays current below the story', async () => {
    await using home = await temporaryFolder();
    const running = new Call(['up', '--port', '0'], {
      env: { HOME: home.path },
      interactive: true,
      colours: true,
      columns: 80,
    });
    await running.says(/OPERATOR {3}KIND[^]*operand {4}Operand {16}hello[^]*\[32mReady/);
    await running.stop();
    expect(running.out).toContain('\u001B[2mCtrl-C stops everything\u001B[0m');
    expect(running.out).toMatch(/\[\d+A.\[0J/);
  });

  test('the line that leads kubectl here stays in sight, whatever is told above it', async () => {
    await using home = await temporaryFolder();
    const running = new Call(['up', '--port', '0'], { env: { HOME: home.path }, interactive: true });
    await running.says(/hello +Ready[^]*\n\nexport KUBECONFIG=.*\/kubeconfig-\d+\nCtrl-C stops everything\n$/);
    await running.stop();
  });

  test('an edit that is undone is told as such, and what was deleted is back', async () => {
    await using home = await temporaryFolder();
    const running = new Call(['up', 'operand', '--port', '0'], { env: { HOME: home.path } });
    const [, file] = await running.says(/export KUBECONFIG=(.*)\n[^]*Operand hello → Ready\n/);
    await using cluster = connect(await (await loadKubeConfig({ file: file! })).connection(), { fieldManager: 'me' });
    const web = { namespace: 'hello', name: 'web' };
    await cluster.client.patch(Deployment, web, { type: 'merge', body: { spec: { replicas: 7 } } });
    await running.says(
      /~ Deployment hello\/web: spec\.replicas changed by me\n[^]*Deployment hello\/web: edit of spec\.replicas undone\n/,
    );
    await cluster.client.delete(ConfigMap, { namespace: 'hello', name: 'greeting' });
    await running.says(/- ConfigMap hello\/greeting\n[^]*\+ ConfigMap hello\/greeting is back\n/);
    expect(await running.stop()).toBe(0);
    expect(running.out).toContain('waiting for Deployment hello/web: its controller has not seen it yet\n');
  });

  test('without colours nothing is coloured', async () => {
    await using home = await temporaryFolder();
    const running = new Call(['up', '--port', '0'], { env: { HOME: home.path }, interactive: true });
    await running.says(/Ctrl-C stops everything/);
    await running.stop();
    expect(running.out).not.toContain('\u001B[3');
  });

  test('--data keeps the cluster: the second start finds what the first made, and installs nothing again', async () => {
    await using home = await temporaryFolder();
    const argv = ['up', '--port', '0', '--data', 'data'];
    const options = { cwd: home.path, env: { HOME: home.path } };
    const first = new Call(argv, options);
    await first.says(/Operand hello → Ready\n/);
    expect(await first.stop()).toBe(0);
    expect(first.out).toContain('stopped; the cluster is kept in data\n');
    const second = new Call(argv, options);
    await second.says(/hello-operand/);
    expect(await second.stop()).toBe(0);
    expect(second.out).toMatch(/\n\n +\d+\.\ds {2}Operand hello → Ready\n/);
    expect(second.out).not.toContain('+ ');
    expect(await readableByOthers(join(home.path, 'data'))).toEqual([]);
    expect(await readdir(join(home.path, 'data'))).toEqual(expect.arrayContaining(['cluster.db', 'kubeconfig']));
  });

  test('--verbose adds what the operators log', async () => {
    await using home = await temporaryFolder();
    const running = new Call(['up', '--port', '0', '--verbose'], { env: { HOME: home.path } });
    await running.says(/ INFO /);
    await running.stop();
    expect(running.err).toContain('setting port = 0 (--port)\n');
  });
});

describe('cluster', () => {
  test('--kubeconfig is written where it is wanted, and works', async () => {
    await using folder = await temporaryFolder();
    const running = new Call(['cluster', '--port', '0', '--kubeconfig', 'k/config'], { cwd: folder.path });
    await running.says(/kubectl get namespaces/);
    expect(running.out).toMatch(/^cluster {6}https:\/\/127\.0\.0\.1:\d+ {3}\(in memory; --data DIR keeps it\)\n/);
    const config = await loadKubeConfig({ file: join(folder.path, 'k/config') });
    await using cluster = connect(await config.connection());
    expect(await cluster.client.get(Namespace, { name: 'default' })).toBeDefined();
    expect(await running.stop()).toBe(0);
    // It was asked for by name, so it stays.
    expect((await stat(join(folder.path, 'k/config'))).mode & 0o777).toBe(0o600);
  });

  test('a kubeconfig of somebody else is not overwritten', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'config'), 'clusters: [{name: production}, {name: slipway}]\n');
    const { code, err } = await call(['cluster', '--port', '0', '--kubeconfig', 'config'], { cwd: folder.path });
    expect(code).toBe(2);
    expect(err).toMatch(/config exists and is not from slipway; it is left as it is\n {2}name a file/);
    expect(await readFile(join(folder.path, 'config'), 'utf8')).toContain('production');
  });

  test('--port in use', async () => {
    await using busy = await busyPort();
    const { code, err } = await call(['cluster', '--port', String(busy.port)]);
    expect(err).toBe(
      `slipway: port ${busy.port} is in use\n  choose another with --port N; --port 0 takes any free one\n`,
    );
    expect(code).toBe(1);
  });

  test('--data that is a file', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'data'), '');
    const { code, err } = await call(['cluster', '--port', '0', '--data', 'data'], { cwd: folder.path });
    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: cannot write to .*data: .*\n {2}choose another folder with --data DIR\n$/);
  });

  test('--data in use by another slipway', async () => {
    await using folder = await temporaryFolder();
    const argv = ['cluster', '--port', '0', '--data', 'data'];
    const first = new Call(argv, { cwd: folder.path });
    await first.says(/kubectl/);
    const { code, err } = await call(argv, { cwd: folder.path });
    await first.stop();
    expect(code).toBe(1);
    expect(err).toMatch(/cannot keep the cluster in .*data: .*is in use by another cluster\n {2}stop the other one/);
  });

  test('--data that is damaged', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'cluster.db'), 'this is not a database, however long one looks at it');
    const { code, err } = await call(['cluster', '--port', '0', '--data', '.'], { cwd: folder.path });
    expect(code).toBe(1);
    expect(err).toMatch(
      /cannot keep the cluster in .*cluster\.db is damaged: .*\n {2}put a copy of the folder in its place/,
    );
  });

  test('--data on a read-only folder', async (context) => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o500);
    if (
      await writeFile(join(folder.path, 'probe'), '').then(
        () => true,
        () => false,
      )
    ) {
      context.skip('this user may write to read-only folders');
    }
    const { code, err } = await call(['cluster', '--port', '0', '--data', 'data'], { cwd: folder.path });
    expect(code).toBe(1);
    expect(err).toContain('cannot write to ');
  });

  test('a kubeconfig that cannot be written', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'occupied'), '');
    const { code, err } = await call(['cluster', '--port', '0', '--kubeconfig', 'occupied/config'], {
      cwd: folder.path,
    });
    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: cannot write to .*\n {2}choose another place with --kubeconfig FILE\n$/);
  });
});
