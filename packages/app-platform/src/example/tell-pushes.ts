import { skipMarker } from '../git/commit-and-push.ts';
import { runGit } from '../git/git-process.ts';

/** Says every commit that reaches a repository, and of those that nobody applies that they are ignored. To be called after every push. */
export function tellPushes(repository: string, say: (line: string) => void): () => Promise<void> {
  let known: string | undefined;
  let turn = Promise.resolve();
  const tell = async (): Promise<void> => {
    const range = known === undefined ? ['--max-count=1', 'main'] : [`${known}..main`];
    const { stdout } = await runGit(['log', '--reverse', '--format=%H %h %s', ...range], { cwd: repository });
    for (const line of stdout.split('\n').filter(Boolean)) {
      const [hash, short, ...words] = line.split(' ');
      const subject = words.join(' ');
      known = hash;
      say(`push          ${short} ${subject}${subject.includes(skipMarker) ? ', ignored' : ''}`);
    }
  };
  // One after the other: of two at once, each would tell of the same commits. What cannot be told of is not worth an error.
  return () => (turn = turn.then(tell).catch(() => undefined));
}
