"""A scene as a model of Newton: bodies in maximal coordinates, with joints between any two, or articulations of trees."""

import newton
import numpy as np
import warp as wp

from frames import Place, body_places, quaternion, start_of
from surfaces import kept_apart
from tree import OPEN, body_of, forest, frame_on, openness
from wire import Refusal

EYE = Place(np.eye(3), np.zeros(3))
Dof = newton.ModelBuilder.JointDofConfig
# An effort without bound [N or N m].
STRONG = 1e12


def transform(place: Place):
    return wp.transform(wp.vec3(*place.x), wp.quat(*quaternion(place.r)))


class Model:
    """The model, and where the bodies and joints of the scene are in it."""

    def __init__(self, scene: dict, settings: dict, law, broken: set[int]):
        self.scene = scene
        self.settings = settings
        self.law = law
        self.places = body_places(start_of(scene))
        self.motions = [body["motion"] for body in scene["bodies"]]
        self.links, self.loops = forest(scene, broken, set())
        self.builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        if law.ATTRIBUTES:
            getattr(newton.solvers, law.ATTRIBUTES).register_custom_attributes(self.builder)
        # It looks this far ahead for contacts; the scene's margin is the least distance to look at.
        self.builder.rigid_gap = settings["gap_m"]
        self.bodies: list[int] = [self.body(i) for i in range(len(self.motions))]
        self.joints: dict[int, tuple[int, bool]] = {}
        self.shapes: dict[int, list[int]] = {}
        self.trees()
        self.others()
        if scene["contacts"] is not None:
            self.surfaces(broken)
        law.finish(self.builder)
        self.m = self.builder.finalize(device="cpu", skip_validation_joints=True)
        self.m.set_gravity(tuple(scene["gravity"]))

    def body(self, i: int) -> int:
        body = self.scene["bodies"][i]
        if self.motions[i] == "static":
            return -1
        inertia = wp.mat33(*body["inertia_kg_m2"])
        place = transform(self.places[i])
        return self.builder.add_link(xform=place, mass=body["mass_kg"], inertia=inertia, lock_inertia=True, label=f"b{i}")

    def trees(self):
        """Articulations: what hangs on the ground, and each free body with what hangs on it."""
        hung = {link.child for link in self.links}
        links: dict[int, list] = {i: [] for i, motion in enumerate(self.motions) if motion == "dynamic" and i not in hung}
        free = set(links)
        root_of: dict[int, int] = {i: i for i in free}
        for link in self.links:
            ground = link.parent is None or self.motions[link.parent] == "static"
            root_of[link.child] = link.child if ground else root_of[link.parent]
            links.setdefault(root_of[link.child], []).append(link)
        # The joints of an articulation have to follow each other.
        for root, below in links.items():
            first = [self.builder.add_joint_free(self.bodies[root], label=f"free{root}")] if root in free else []
            self.builder.add_articulation(first + [self.joint(link.joint, link.turned) for link in below])

    def others(self):
        for k in self.loops:
            joint = self.scene["joints"][k]
            if joint["kind"] not in self.law.LOOPS:
                why = f"the solver has no {joint['kind']} outside a tree"
                raise Refusal("unsupported", f"joint {k} closes a loop or is open, and {why}")
            ends = [body_of(joint[side]) for side in "ab"]
            if not self.law.OPENS and openness(joint, *(EYE if end is None else self.places[end] for end in ends)) > OPEN:
                raise Refusal("unsupported", f"joint {k} is open at the start, and the solver would keep it so")
            turned = ends[1] is None or self.motions[ends[1]] == "static"
            self.joint(k, turned)

    def joint(self, k: int, turned: bool) -> int:
        """A joint whose child is the scene's B, or its A where that is turned."""
        joint = self.scene["joints"][k]
        kind = joint["kind"]
        outer, inner = ("b", "a") if turned else ("a", "b")
        above, below = body_of(joint[outer]), body_of(joint[inner])
        frame = frame_on(joint, outer)
        if above is not None and self.motions[above] == "static":
            frame = self.places[above] * frame
        parent = -1 if above is None else self.bodies[above]
        frames = dict(parent_xform=transform(frame), child_xform=transform(frame_on(joint, inner)), label=f"j{k}")
        # Contacts are kept apart body by body, with what a joint connects.
        frames["collision_filter_parent"] = False
        add, child = self.builder, self.bodies[below]
        sign = -1.0 if turned else 1.0
        x, y = (sign, 0, 0), (0, sign, 0)
        if kind == "ball":
            made = add.add_joint_ball(parent, child, **frames)
        elif kind == "fixed":
            made = add.add_joint_fixed(parent, child, **frames)
        elif kind == "hinge":
            made = add.add_joint(newton.JointType.REVOLUTE, parent, child, angular_axes=[self.free(x, joint)], **frames)
        elif kind == "prismatic":
            made = add.add_joint(newton.JointType.PRISMATIC, parent, child, linear_axes=[self.free(x, joint)], **frames)
        elif kind == "distance":
            lower, upper = joint["limit"] or [joint["length_m"]] * 2
            bounds = dict(min_distance=-1.0 if lower is None else lower, max_distance=-1.0 if upper is None else upper)
            made = add.add_joint_distance(parent, child, **bounds, **frames)
        else:
            raise Refusal("unsupported", f"joint {k} is a {kind}")
        self.joints[k] = (made, turned)
        return made

    def free(self, axis, joint: dict):
        """The free coordinate of a hinge or slide: without inertia, friction or stops that the scene has not."""
        about = dict(axis=axis, armature=0.0, friction=0.0, target_kd=0.0, effort_limit=STRONG, velocity_limit=STRONG)
        if joint["limit"] is not None:
            lower, upper = joint["limit"]
            about["limit_lower"] = -newton.MAXVAL if lower is None else lower
            about["limit_upper"] = newton.MAXVAL if upper is None else upper
            about["limit_ke"], about["limit_kd"] = self.settings["limit_ke"], self.settings["limit_kd"]
        return Dof(**about)

    def surfaces(self, broken: set[int]):
        bodies = self.scene["bodies"]
        apart = kept_apart(self.scene, broken)
        friction = self.law.FRICTION(bodies, apart, "friction")
        restitution = self.law.RESTITUTION(bodies, apart, "restitution")
        for i, body in enumerate(bodies):
            self.shapes[i] = []
            self.shape(i, body["shape"], EYE, friction[i], restitution[i])
        for a, b in sorted(apart):
            for one in self.shapes[a]:
                for other in self.shapes[b]:
                    self.builder.add_shape_collision_filter_pair(one, other)

    def shape(self, i: int, shape: dict, place: Place, mu: float, restitution: float):
        (kind, about), = shape.items()
        if kind == "compound":
            for part in about["parts"]:
                self.shape(i, part["shape"], place * Place.of(part["position"], part["rotation"]), mu, restitution)
            return
        s = self.settings
        # No friction against rolling or spinning, and no mass: that of the body is given.
        surface = newton.ModelBuilder.ShapeConfig(
            density=0.0, mu=mu, restitution=restitution, mu_torsional=0.0, mu_rolling=0.0,
            ke=s["contact_ke"], kd=s["contact_kd"], kf=s["contact_kf"], margin=0.0, collision_filter_parent=False,
        )
        still = self.motions[i] == "static"
        at = dict(xform=transform(self.places[i] * place if still else place), cfg=surface)
        add, body = self.builder, self.bodies[i]
        if kind == "box":
            hx, hy, hz = about["half_m"]
            made = add.add_shape_box(body, hx=hx, hy=hy, hz=hz, **at)
        elif kind == "sphere":
            made = add.add_shape_sphere(body, radius=about["radius_m"], **at)
        elif kind in ("capsule", "cylinder"):
            form = dict(radius=about["radius_m"], half_height=about["half_length_m"])
            # Along z, as the scene's.
            made = getattr(add, f"add_shape_{kind}")(body, **form, **at)
        elif not still:
            raise Refusal("unsupported", f"body {i} is a half space that moves")
        else:
            made = add.add_shape_plane(body=-1, width=0.0, length=0.0, **at)
        self.shapes[i].append(made)
