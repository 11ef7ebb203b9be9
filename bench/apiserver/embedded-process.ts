/** The embedded server as a process of its own: `embedded-process.ts [--secure]`. Says where it listens, ends with SIGTERM. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { keepProcessLean, startCluster } = await import('@slipway/apiserver');

keepProcessLean();

const secure = process.argv.includes('--secure');
const cluster = await startCluster({
  port: 0,
  ...(secure
    ? { tls: true, authorization: 'RBAC', tokens: [{ token: 'bench', user: 'admin', groups: ['system:masters'] }] }
    : {}),
});
process.stdout.write(`${JSON.stringify({ event: 'ready', url: cluster.url })}\n`);
process.on('SIGTERM', () => void cluster.stop().then(() => process.exit(0)));
