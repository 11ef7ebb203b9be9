/**
 * An embedded cluster and a Git server as a process of their own, so that neither side shares its time: prints where they listen, ends
 * with its input. Arguments: the folder of the Git server, the user and the password it asks for.
 */
import { startGitServer } from '../../packages/app-platform/src/git-server/git-server.ts';
import { startCluster } from '../../packages/apiserver/src/index.ts';

const [directory = '', username = '', password = ''] = process.argv.slice(2);
const cluster = await startCluster({ port: 0, controllers: 'core' });
const server = await startGitServer({
  directory,
  repository: 'otomi/values.git',
  credentials: { username, password },
});
process.stdout.write(`${JSON.stringify({ kubeconfig: cluster.kubeconfig, gitUrl: server.url })}\n`);
process.stdin.resume();
process.stdin.once('end', () => {
  void Promise.all([cluster.stop(), server[Symbol.asyncDispose]()]).then(() => process.exit(0));
});
