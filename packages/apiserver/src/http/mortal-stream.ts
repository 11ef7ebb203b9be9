import type { Clock } from '../clock.ts';
import { ConnectionLost, type FaultEffects } from '../faults.ts';
import type { ApiResponse } from '../server.ts';

/** A watch that ends after some events or some time. */
export function mortalStream(
  response: ApiResponse,
  kill: NonNullable<FaultEffects['killWatch']>,
  clock: Clock,
): ApiResponse {
  const start = response.stream!;
  return {
    ...response,
    stream(sink) {
      let left = kill.afterEvents ?? (kill.afterMs === undefined ? 0 : Infinity);
      // Filled after the start, during which events may already come.
      const running: { inner?: { close(): void } } = {};
      let dead = false;
      const die = () => {
        if (dead) return;
        dead = true;
        timer?.cancel();
        running.inner?.close();
        if (kill.clean || !sink.fail) sink.end();
        else sink.fail(new ConnectionLost());
      };
      const timer = kill.afterMs === undefined ? undefined : clock.schedule(kill.afterMs, die);
      const close = () => {
        dead = true;
        timer?.cancel();
        running.inner?.close();
      };
      if (left <= 0) {
        die();
        return { close };
      }
      running.inner = start({
        write(chunk) {
          if (dead) return true;
          const more = sink.write(chunk);
          left -= 1;
          if (left <= 0) die();
          return more;
        },
        ...(sink.onceDrained ? { onceDrained: sink.onceDrained.bind(sink) } : {}),
        end() {
          if (dead) return;
          dead = true;
          timer?.cancel();
          sink.end();
        },
        ...(sink.fail ? { fail: sink.fail.bind(sink) } : {}),
      });
      if (dead) running.inner.close();
      return { close };
    },
  };
}
