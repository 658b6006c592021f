// SPDX-License-Identifier: Apache-2.0
// Rendezvous of a warp, barriers of a block and of a cluster.
#include "runtime/host/State.h"

namespace dlc::host {
void releaseBarrier(Barrier &b) {
  for (Fiber *f : b.waiting)
    wake(f);
  b.waiting.clear();
  b.arrived = 0;
}
// Threads that have returned count as arrived in every later phase.
void countClusterArrival() {
  Worker &w = *worker;
  if (++w.clusterArrived < w.total)
    return;
  w.clusterArrived = w.total - w.alive;
  w.clusterPhase++;
  for (Fiber *f : w.clusterWaiting)
    wake(f);
  w.clusterWaiting.clear();
}

void warpCollective(uint32_t mask, WarpOp op, void *args) {
  Fiber *t = me();
  Warp &w = *t->warp;
  mask &= w.alive;
  if (!w.arrived)
    w.mask = mask;
  else if (w.mask != mask)
    fail("warp %d: collectives of different masks (%#x and %#x) meet", w.index,
         w.mask, mask);
  w.args[t->lane] = args;
  w.arrived |= 1u << t->lane;
  if (w.arrived != mask) {
    const uint32_t r = w.ready;
    if (!(r & (r - 1)) || worker->adversarial)
      return park();
    Fiber *n = &w.lanes[__builtin_ctz(r)]; // the common case: the next lane
    w.ready = r & (r - 1);
    self = n;
    if (!n->sp)
      prepare(n);
    return switchTo(&t->sp, n->sp);
  }
  w.arrived = 0;
  op(w.args, mask);
  w.ready |= mask & ~(1u << t->lane);
  if (w.ready)
    t->block->readyWarps |= 1ull << w.index;
  maybeYield();
}
void barSync(int id, int threads) {
  Fiber *t = me();
  Barrier &b = t->block->barriers[id];
  if (++b.arrived == (threads ? threads : t->block->alive)) {
    releaseBarrier(b);
    return maybeYield();
  }
  b.waiting.push_back(t);
  park();
}
void barArrive(int id, int threads) {
  Barrier &b = me()->block->barriers[id];
  if (++b.arrived == threads)
    releaseBarrier(b);
  maybeYield();
}
void clusterArrive() {
  me()->clusterPhase = worker->clusterPhase;
  countClusterArrival();
}
void clusterWait() { // a thread waits for the phase that it arrived in
  if (worker->clusterPhase != me()->clusterPhase)
    return maybeYield();
  worker->clusterWaiting.push_back(me());
  park();
}
} // namespace dlc::host
