#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges motion by figures that golden scenes do not have, of several builds side by side: a change
of the step is good if none gets worse.

usage: tests/motion/gate.py [--part PART]... [--models FOLDER] [--jobs N] [--verbose] [--check] PLUSH...
  PLUSH    programs; the first one bakes for all
  --check  fails if a hang stops away from its equilibrium, loses over 0.2 of its drop in a step, or comes
           above its start by 0.01
  PART     hangs     bodies by eight pinned nodes: rest away from equilibrium, jumps and gains of energy
           held      the same by a spring or a point constraint
           implicit  the same by pins with the implicit solver, 2 Newton iterations of 8
           random    54 random scenes: throws, solids, pins, presses, piles, springs, flights
           more      172 others
           throws    26 of them against 48 iterations
           stacks    ten and five cubes, heavy_stack
           small     bears of 5 and 20 cm
  FOLDER   of further models for the hangs (armadillo_10k.obj, horse_10k.obj, cheburashka_13k.obj)

Energies count in units of what the body can set free: of a hang, between the rest shape and the
equilibrium (equilibria.json; --equilibria makes it anew with the implicit solver)."""
import argparse, concurrent.futures, itertools, json, math, os, random, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EQUILIBRIA = os.path.join(ROOT, 'tests/motion/equilibria.json')
SAMPLES = {'bear': (400, 4e4), 'duck': (450, 2e4), 'octopus': (900, 6e4)}  # as samples/run.sh bakes them
FURTHER = ('armadillo_10k', 'horse_10k', 'cheburashka_13k')
HANG_TETS = 450


class Assets:
    """Baked bodies in a folder of their own."""

    def __init__(self, plush, folder):
        self.plush, self.folder = plush, folder

    def bake(self, source, name, *options):
        path = os.path.join(self.folder, name + '.plush')
        if not os.path.exists(path):
            unit = ['--unit', 'm'] if source.endswith('.obj') else []
            subprocess.run([self.plush, 'bake', source, '-o', path, '-q', *options, *unit], check=True)
        return path

    def sample(self, name):
        tets, young = SAMPLES[name]
        source = os.path.join(ROOT, 'samples/models', name + '.glb')
        return self.bake(source, name, '--tets', str(tets), '--young', str(young), '--damping', '0.15')

    def cube(self):
        return self.bake(os.path.join(ROOT, 'samples/scenes/contact/cube.obj'), 'cube', '--tets', '100',
                         '--young', '1e7', '--damping', '0.03', '--friction', '0.5')

    def hung(self, source):
        """A body, its farthest node, the radius around it that holds eight nodes, and its size."""
        name = 'hung_' + os.path.splitext(os.path.basename(source))[0]
        path = self.bake(source, name, '--tets', str(HANG_TETS))
        mesh = os.path.join(self.folder, name)
        subprocess.run([self.plush, 'export', path, '--to', 'node', '-o', mesh], check=True, capture_output=True)
        found = [f for f in os.listdir(self.folder) if f.startswith(name) and f.endswith('.node')]
        with open(os.path.join(self.folder, sorted(found)[0])) as file:
            lines = [l.split() for l in file if l.strip() and l[0] != '#']
        nodes = [tuple(map(float, l[1:4])) for l in lines[1:1 + int(lines[0][0])]]
        centre = [sum(p[k] for p in nodes) / len(nodes) for k in range(3)]
        far = max(nodes, key=lambda p: math.dist(p, centre))
        away = sorted(math.dist(p, far) for p in nodes)
        return path, list(far), away[7] * 1.001, away[-1]


    def on_surface(self, path, point):
        """The surface vertex nearest to a point: where a spring takes hold."""
        scene, out = os.path.join(self.folder, 'still.json'), os.path.join(self.folder, 'still.obj')
        with open(scene, 'w') as file:
            json.dump({'steps': 1, 'bodies': [{'asset': path}]}, file)
        subprocess.run([self.plush, 'simulate', scene, '--frame', '0', '--export', out, '-q'], check=True)
        with open(out) as file:
            vertices = [tuple(map(float, l.split()[1:4])) for l in file if l.startswith('v ')]
        return list(min(vertices, key=lambda p: math.dist(p, point)))


class Run:
    """Energies [J] of a run, by step; None if the program fails or takes over two minutes."""

    def __init__(self, stats):
        energy, start = stats['energy_j'], stats['energy_start_j']
        number = lambda values: [math.nan if v is None else v for v in values]
        self.kinetic = number(energy['kinetic'])
        self.potential = [a + b for a, b in zip(number(energy['elastic']), number(energy['gravity']))]
        self.gravity = number(energy['gravity'])
        self.total = [a + b for a, b in zip(self.kinetic, self.potential)]
        self.start = sum(start.values())
        self.mass = sum(stats['mass_kg']) if isinstance(stats['mass_kg'], list) else stats['mass_kg']
        self.flat = stats['inverted_tets'] + stats['degenerate_tets']
        self.depth = stats['max_penetration_m'] or 0.0
        self.step_ms = statistics.median(stats['step_ms']) if isinstance(stats['step_ms'], list) else stats['step_ms']['median']

    def height(self, step):
        return self.gravity[step] / (self.mass * 9.81)

    def speed(self, step):
        return math.sqrt(max(0.0, 2 * self.kinetic[step] / self.mass))


def simulate(plush, scene):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, 'scene.json'), os.path.join(folder, 'stats.json')
        with open(path, 'w') as file:
            json.dump(scene, file)
        try:
            done = subprocess.run([plush, 'simulate', path, '--stats', out, '-q'], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode not in (0, 4):
            print(done.stderr, file=sys.stderr)
            return None
        with open(out) as file:
            return Run(json.load(file))


def finite_max(values):
    return max(values) if all(map(math.isfinite, values)) else math.inf


# Hangs.

def hang_cases():
    return itertools.product((1e4, 3e4, 6e4, 3e5), (0.33, 0.45), (0.0, 0.02, 0.15))


def hang_body(hung, young, poisson, damping):
    path, centre, radius, size = hung
    return {'asset': path, 'pins': [{'sphere': {'centre': centre, 'radius': radius}}],
            'material': {'young': young * size, 'poisson': poisson, 'damping': damping}}


def equilibrium(plush, hung, young, poisson, mass):
    """Potential energy [J] at rest: the implicit solver, damped, 15 s, and 30 s if it still moves."""
    solver = {'name': 'implicit', 'newton_iterations': 6, 'linear_iterations': 60, 'line_search': True}
    for steps in (1500, 3000, 6000):
        scene = {'dt': 0.01, 'steps': steps, 'solver': solver, 'bodies': [hang_body(hung, young, poisson, 0.3)]}
        run = simulate(plush, scene)
        if run.kinetic[-1] < 1e-9 * mass:
            break
    return run.potential[-1]


def judge_hang(run, rest):
    """(rests away from the equilibrium, largest loss in a step, most above the start, mean off it)"""
    if run is None:
        return True, math.inf, math.inf, math.inf
    drop = run.potential[0] - rest
    above = (run.potential[-1] - rest) / drop
    stops = run.kinetic[-1] < 1e-6 * drop and abs(above) > 0.05
    loss = finite_max([(a - b) / drop for a, b in zip(run.total, run.total[1:])])
    gain = finite_max([(t - run.total[0]) / drop for t in run.total])
    late = run.potential[-100:]
    return stops, loss, gain, abs(sum(late) / len(late) - rest) / drop


def hang_key(source, young, poisson):
    return f'{os.path.splitext(os.path.basename(source))[0]} {young:g} {poisson}'


class Hangs:
    def __init__(self, assets, sources, remakes):
        self.assets, self.sources = assets, sources
        self.hung = {source: assets.hung(source) for source in sources}
        self.rest = {}
        if os.path.exists(EQUILIBRIA):
            with open(EQUILIBRIA) as file:
                self.rest = json.load(file)
        if remakes:
            for source, young, poisson in itertools.product(sources, (1e4, 3e4, 6e4, 3e5), (0.33, 0.45)):
                self.rest[hang_key(source, young, poisson)] = equilibrium(assets.plush, self.hung[source], young, poisson, 1.0)
            with open(EQUILIBRIA, 'w') as file:
                json.dump(self.rest, file, indent=0, sort_keys=True)

    def pinned(self, solver={}, steps=400, dampings=(0.0, 0.02, 0.15)):
        for source, (young, poisson, damping) in itertools.product(self.sources, hang_cases()):
            if damping not in dampings:
                continue
            body = hang_body(self.hung[source], young, poisson, damping)
            scene = {'dt': 0.01, 'steps': steps, 'bodies': [body], 'solver': {'name': 'splitting', **solver}}
            yield hang_key(source, young, poisson) + f' {damping}', scene, self.rest[hang_key(source, young, poisson)]

    def held(self):
        for source in self.sources:
            path, centre, _, size = self.hung[source]
            centre = self.assets.on_surface(path, centre)
            holds = {'spring': {'attachments': [{'body': 0, 'at': centre, 'target': centre, 'rest_length': 0, 'stiffness': 2e4, 'damping': 20}]},
                     'point': {'constraints': [{'body': 0, 'at': centre, 'kind': 'point'}]}}
            for hold, young, poisson, damping in itertools.product(holds, (1e4, 3e4, 6e4), (0.33, 0.45), (0.0, 0.02, 0.15)):
                body = {'asset': path, 'material': {'young': young * size, 'poisson': poisson, 'damping': damping}}
                yield f'{hang_key(source, young, poisson)} {damping} by a {hold}', {'dt': 0.01, 'steps': 500, 'bodies': [body], **holds[hold]}


def print_hangs(rows, verbose):
    bad = [(n, j) for n, j in rows if j[0] or j[1] > 0.2 or j[2] > 0.01]
    worst = lambda k: max(j[k] for _, j in rows)
    print(f'  {len(rows)} hangs: {sum(j[0] for _, j in rows)} rest away from equilibrium; '
          f'{sum(j[1] > 0.2 for _, j in rows)} lose over 0.2 in a step (largest {worst(1):.3f}); '
          f'{sum(j[2] > 0.01 for _, j in rows)} come above their start by 0.01 (largest {worst(2):.3g})')
    for name, j in bad if verbose else []:
        print(f'    {name}: {"stops, " if j[0] else ""}loss {j[1]:.3f}, gain {j[2]:.3g}')
    return len(bad)


# Random scenes.

def random_scenes(assets, seed):
    """86 scenes: (kind, scene)."""
    r = random.Random(seed)
    scenes = []

    def turn():
        a = [r.gauss(0, 1) for _ in range(4)]
        n = math.sqrt(sum(x * x for x in a))
        return [x / n for x in a]

    def body(**more):
        name = r.choice(['bear', 'octopus', 'duck'])
        material = {'young': 10**r.uniform(3.3, 9), 'poisson': r.choice([0.2, 0.33, 0.4, 0.45, 0.49]), 'damping': r.choice([0, 0.02, 0.15])}
        if r.random() < 0.4:
            material['restitution'] = r.choice([0.3, 0.6, 0.9])
        return {'asset': assets.sample(name), 'position': [0, 0.4, 0], 'rotation': turn(), 'material': material, **more}

    def plane(normal, offset, mu):
        return {'plane': {'normal': normal, 'offset': offset}, 'friction': mu}

    def add(kind, dt, seconds, bodies, colliders, **more):
        scenes.append((kind, {'gravity': [0, -9.81, 0], 'dt': dt, 'steps': int(seconds / dt), 'bodies': bodies, 'colliders': colliders, **more}))

    mus, dts = [0, 0.5, 1.0], [1 / 240, 1 / 120, 1 / 60, 1 / 60, 0.01, 1 / 30]
    for _ in range(36):
        b = body(velocity=[r.uniform(-3, 3), r.uniform(-4, 1), r.uniform(-3, 3)])
        b['position'] = [0, r.uniform(0.4, 1.5), 0]
        mu = r.choice(mus)
        c, t = [plane([0, 1, 0], 0, mu)], r.random()
        if t < 0.3:
            s = math.sqrt(0.5)
            c = [plane([s, s, 0], 0, mu), plane([-s, s, 0], 0, mu)]
        elif t < 0.5:
            c += [plane(n, -0.6, mu) for n in ([1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1])]
        add('throw', r.choice(dts), 3, [b], c)
    for _ in range(8):
        b = body(velocity=[r.uniform(-1, 1), r.uniform(-4, 0), r.uniform(-1, 1)])
        b['position'] = [0, 1.2, 0]
        mu, dt = r.choice(mus), r.choice(dts)
        shape = r.choice([{'sphere': {'radius': 0.2}}, {'box': {'half_extents': [0.3, 0.1, 0.3]}}, {'capsule': {'radius': 0.1, 'half_height': 0.2}}])
        add('solid', dt, 3, [b], [plane([0, 1, 0], 0, mu), {**shape, 'position': [r.uniform(-.2, .2), 0.4, r.uniform(-.2, .2)], 'friction': mu}])
    for _ in range(8):
        b = body()
        b['position'], b['rotation'] = [0, 0, 0], [0, 0, 0, 1]
        b['pins'] = [{'sphere': {'centre': [0, 0.2, 0.0], 'radius': r.choice([0.07, 0.12])}}]
        add('pin', r.choice(dts), 3, [b], [], gravity=[6, -8, 0])
    for _ in range(8):
        b = body()
        b['position'], b['rotation'] = [0, 0.0, 0], [0, 0, 0, 1]
        b['material']['young'] = 10**r.uniform(3.5, 7)
        mu, dt = r.choice(mus), r.choice(dts)
        lid = {'box': {'half_extents': [1, 0.1, 1]}, 'friction': mu,
               'motion': [{'t': t, 'position': [0, y, 0]} for t, y in ((0, 0.75), (1, 0.3), (1.3, 0.3), (2, 1.5))]}
        add('press', dt, 4, [b], [plane([0, 1, 0], -0.3, mu), lid])
    for _ in range(10):
        bodies = []
        for k in range(r.choice([2, 3, 4])):
            b = body()
            b['position'] = [r.uniform(-.05, .05), 0.5 + 0.75 * k, r.uniform(-.05, .05)]
            b['material']['young'] = 10**r.uniform(4, 8)
            if r.random() < 0.2:
                b['material']['density'] = 10000
            bodies.append(b)
        mu = r.choice(mus[1:])
        add('pile', r.choice([1 / 120, 1 / 60, 0.01]), 3, bodies, [plane([0, 1, 0], 0, mu)], bodies_touch=True)
    for i in range(8):
        b = body()
        b['position'], b['rotation'] = [0, 0, 0], [0, 0, 0, 1]
        dt = r.choice(dts)
        if i % 2:
            held = {'attachments': [{'body': 0, 'at': [0, 1, 0], 'target': [0, 0.5, 0], 'stiffness': 10**r.uniform(2, 7), 'damping': r.choice([0, 10])}]}
        else:
            kind = r.choice(['point', 'line'])
            held = {'constraints': [{'body': 0, 'at': [0.3, 1, 0], 'kind': kind, **({'direction': [1, 0, 0]} if kind == 'line' else {})}]}
        add('held', dt, 3, [b], [plane([0, 1, 0], -1, 0.5)], gravity=[5, -9, 0], **held)
    for _ in range(8):
        b = body()
        b['position'] = [0, 0, 0]
        dt = r.choice(dts)
        add('flight', dt, 2, [b], [], gravity=[0, 0, 0],
            forces=[{'type': 'radial', 'centre': [0.25, -0.2, 0.1], 'radius': 0.6, 'strength': r.choice([100, 400, 1500]), 'from': 0, 'to': 0.1}])
    return scenes


def some_scenes(assets):
    """54 scenes of seed 7, shorter."""
    skipped = {'throw': 12, 'solid': 4, 'pin': 3, 'press': 4, 'pile': 2, 'held': 4, 'flight': 4}
    count, chosen = {}, []
    for i, (kind, scene) in enumerate(random_scenes(assets, 7)):
        count[kind] = count.get(kind, 0) + 1
        if count[kind] > skipped[kind] or i == 61:
            scene['steps'] = int((2.4 if kind == 'press' else 1.6) / scene['dt'])
            chosen.append((kind, scene))
    return chosen


def judge_random(kind, scene, run, assets):
    """(gain, gain in a step, depth [m], speed at the end [m/s], flat tets); energies in m g 0.5 m and the start's kinetic.
    What springs hold at the start (rest length 0) is no gain once it is in the body."""
    if run is None:
        return math.inf, math.inf, math.inf, math.inf, 1
    unit, start, total = abs(run.kinetic[0]) + run.mass * 9.81 * 0.5, run.start, run.total
    if kind == 'flight':  # from the end of the blast on
        first = int(math.ceil(0.1 / scene['dt'])) + 1
        start, total = total[first], total[first:]
        unit = abs(start) + 1e-9
    for spring in scene.get('attachments', []):
        held_at = assets.on_surface(scene['bodies'][spring['body']]['asset'], spring['at'])
        start += 0.5 * spring['stiffness'] * math.dist(held_at, spring['target'])**2
    step = finite_max([b - a for a, b in zip([start] + total[:-1], total)]) / unit
    return (finite_max(total) - start) / unit, step, run.depth, run.speed(-1), run.flat


def print_random(rows, verbose):
    gains = [j[0] for _, j in rows]
    presses = [j for kind, j in rows if kind.split()[0] == 'press']
    depth = max((j[2] for j in presses), default=0.0)
    print(f'  {len(rows)} scenes: {sum(g > 0.01 for g in gains)} gain over 1% (largest {max(gains):.3g}), '
          f'{sum(j[1] > 0.01 for _, j in rows)} in a step; deepest {max(j[2] for _, j in rows):.4f} m, in presses {depth:.4f}; '
          f'{sum(j[3] > 0.02 for _, j in rows)} faster than 0.02 m/s at the end; {sum(j[4] > 0 for _, j in rows)} with flat tets')
    for name, j in rows if verbose else []:
        if j[0] > 0.01 or j[1] > 0.01 or j[4] > 0 or j[2] > 0.005:
            print(f'    {name}: gain {j[0]:.3g}, step {j[1]:.3g}, depth {j[2]:.4f}, speed {j[3]:.3f}, flat {j[4]}')


# Throws against many iterations.

def throw_scenes(assets):
    scenes = []
    for kind, scene in random_scenes(assets, 7):
        if kind not in ('throw', 'solid') or len(scenes) == 26:
            continue
        for b in scene['bodies']:
            b['material'].pop('restitution', None)
        scene['steps'] = int(0.9 / scene['dt'])
        scenes.append(scene)
    return scenes


def print_throws(rows, verbose):
    height, kinetic = sorted(h for h, _ in rows), sorted(k for _, k in rows)
    p90 = lambda values: values[int(0.9 * len(values))]
    print(f'  {len(rows)} throws against 48 iterations: height off by {statistics.median(height):.4f} m (p90 {p90(height):.4f}), '
          f'kinetic energy by {statistics.median(kinetic):.3f} (p90 {p90(kinetic):.3f})')


def judge_throw(run, truth):
    if run is None or truth is None:
        return math.inf, math.inf
    steps = range(len(truth.gravity))
    return (max(abs(run.height(i) - truth.height(i)) for i in steps),
            max(abs(a - b) for a, b in zip(run.kinetic, truth.kinetic)) / max(truth.kinetic))


# Stacks and small bodies.

def stack_scenes(assets):
    def load(name, count):
        with open(os.path.join(ROOT, 'samples/scenes/contact', name)) as file:
            scene = json.load(file)
        scene['bodies'] = scene['bodies'][:count]
        for b in scene['bodies']:
            b['asset'] = assets.cube()
        return scene

    for count, youngs in ((10, (1e6, 1e7, 2e8)), (5, (1e5, 3e5, 1e6, 3e6))):
        for young, dt in itertools.product(youngs, (0.01, 1 / 60)):
            scene = load('stack.json', count)
            for b in scene['bodies']:
                b['material'] = {'young': young, 'poisson': 0.33, 'damping': 0.02}
            yield f'{count} of {young:.0e} Pa, {dt:.4f} s', {**scene, 'dt': dt, 'steps': int(4 / dt)}
    for dt in (0.01, 1 / 60):
        yield f'heavy_stack, {dt:.4f} s', {**load('heavy_stack.json', 10), 'dt': dt, 'steps': int(4 / dt)}


def small_scenes(assets):
    n = [1, 0.3, 0.2]
    s = math.sin(0.35) / math.hypot(*n)
    for size, young, poisson in itertools.product((0.05, 0.2), (1e6, 1e8, 1e9), (0.33, 0.45)):
        body = {'asset': assets.sample('bear'), 'position': [0, 0.62 * size, 0], 'rotation': [x * s for x in n] + [math.cos(0.35)],
                'scale': size, 'material': {'young': young, 'poisson': poisson, 'damping': 0.02, 'friction': 0.5}}
        yield (size, f'bear of {size} m, {young:.0e} Pa, nu {poisson}'), {
            'gravity': [0, -9.81, 0], 'dt': 1 / 60, 'steps': 240, 'bodies': [body],
            'colliders': [{'plane': {'normal': [0, 1, 0], 'offset': 0}, 'friction': 0.5}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', action='append', choices=['hangs', 'held', 'implicit', 'random', 'more', 'throws', 'stacks', 'small'])
    parser.add_argument('--models')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('--equilibria', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('plush', nargs='+')
    args = parser.parse_args()
    parts = args.part or ['hangs', 'held', 'implicit', 'random', 'more', 'throws', 'stacks', 'small']
    programs, bad = [os.path.abspath(p) for p in args.plush], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        assets = Assets(programs[0], folder)
        sources = [os.path.join(ROOT, 'samples/models', n + '.glb') for n in SAMPLES]
        if args.models:
            sources += [os.path.join(args.models, n + '.obj') for n in FURTHER]
        needs_hangs = args.equilibria or {'hangs', 'held', 'implicit'} & set(parts)
        hangs = Hangs(assets, sources, args.equilibria) if needs_hangs else None

        def play(plush, scenes):
            return list(pool.map(lambda scene: simulate(plush, scene), scenes))

        def hung(plush, cases):
            cases = list(cases)
            runs = play(plush, [scene for _, scene, _ in cases])
            return [(name, judge_hang(run, rest)) for (name, _, rest), run in zip(cases, runs)]

        for part, plush in itertools.product(parts, programs):
            print(f'{part}: {plush}', flush=True)
            if part == 'hangs':
                rows = hung(plush, hangs.pinned())
                bad += print_hangs(rows, args.verbose)
                if args.check:
                    continue
                late = hung(plush, hangs.pinned(steps=800, dampings=(0.15,)))
                off = [(j[3], n) for n, j in late]
                print(f'  {len(late)} damped by 0.15 s, last 100 of 800 steps: potential energy off by {max(off)[0]:.4f} of the drop ({max(off)[1]}), '
                      f'{sum(o > 0.05 for o, _ in off)} by over 0.05')
            elif part == 'held':
                cases = [(n, s, None) for n, s in hangs.held()]
                runs = play(plush, [scene for _, scene, _ in cases])
                bad += print_hangs([(n, (False, *judge_hang(r, min(r.potential) if r else 0)[1:])) for (n, _, _), r in zip(cases, runs)], args.verbose)
            elif part == 'implicit':
                print_hangs(hung(plush, hangs.pinned({'name': 'implicit', 'newton_iterations': 2, 'linear_iterations': 8})), args.verbose)
            elif part in ('random', 'more'):
                scenes = some_scenes(assets) if part == 'random' else random_scenes(assets, 8) + random_scenes(assets, 9)
                runs = play(plush, [scene for _, scene in scenes])
                print_random([(f'{k} {i}', judge_random(k, s, run, assets)) for i, ((k, s), run) in enumerate(zip(scenes, runs))], args.verbose)
            elif part == 'throws':
                scenes = throw_scenes(assets)
                truth = play(plush, [{**s, 'solver': {'newton_iterations': 48}} for s in scenes])
                print_throws([judge_throw(a, b) for a, b in zip(play(plush, scenes), truth)], args.verbose)
            elif part == 'stacks':
                cases = list(stack_scenes(assets))
                for (name, _), run in zip(cases, play(plush, [s for _, s in cases])):
                    late = max(run.kinetic[int(0.9 * len(run.kinetic)):])
                    print(f'  {name}: height {run.start and run.height(0):.4f} -> {run.height(-1):.4f}, speed {math.sqrt(2 * late / run.mass):.5f} m/s')
            else:
                cases = list(small_scenes(assets))
                for ((size, name), _), run in zip(cases, play(plush, [s for _, s in cases])):
                    speeds = [run.speed(i) for i in range(len(run.kinetic))]
                    rest = max([i / 60 for i, v in enumerate(speeds) if v > 0.012 * size] + [0])
                    gain = (finite_max(run.total) - run.start) / (run.mass * 9.81 * 0.2 * size)
                    print(f'  {name}: height {run.height(-1) / (1.2 * size):.4f}, gain {gain:.4f}, at rest after {rest:.2f} s')
        sys.exit(1 if args.check and bad else 0)


if __name__ == '__main__':
    main()
