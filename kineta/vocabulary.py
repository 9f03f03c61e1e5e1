"""Synonyms: names in other tools for names of kineta: Pinocchio, MuJoCo, Drake, RBDL, SymPy, Exudyn, python-control, SciPy.

A row holds synonyms, a name, and a remark. A synonym may be in several rows: the first row applies whose name is known in
the context.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_ROWS = (
    # Quantities of the equations.
    ("rnea mj_inverse mj_rne qfrc_inverse tau torque InverseDynamics CalcInverseDynamics inverse_dynamics ID", "inverse", ""),
    ("aba mj_forward qacc ForwardDynamics forward_dynamics ABA FD", "forward", ""),
    ("crba mj_fullM qM CompositeRigidBodyAlgorithm CalcMassMatrix inertia_matrix", "mass_matrix", ""),
    ("gravity computeGeneralizedGravity CalcGravityGeneralizedForces gravity_vector g", "inverse", "at rest: v = 0, vdot = 0"),
    ("coriolis computeCoriolisMatrix coriolis_matrix centrifugal C", "bias", "less its value at v = 0"),
    ("nonLinearEffects nle qfrc_bias mj_bias CalcBiasTerm", "bias", ""),
    ("forcing", "bias", "with the other sign"),
    ("forcing_full mass_matrix_full rhs ode dynamics xdot f", "state_rate", ""),
    ("computeJointJacobians getFrameJacobian mj_jac CalcPointJacobian jacobians", "jacobian", ""),
    ("forwardKinematics framesForwardKinematics oMi xpos mj_kinematics fkine CalcBodyToBaseCoordinates", "positions", ""),
    ("xmat xquat oRi orientations", "rotations", ""),
    ("centerOfMass com jacobianCenterOfMass CalcCenterOfMassPositionInWorld subtree_com", "mass_centre", ""),
    ("computeKineticEnergy CalcKineticEnergy T", "kinetic_energy", ""),
    ("computePotentialEnergy CalcPotentialEnergy V U", "potential_energy", ""),
    ("computeMechanicalEnergy total_energy E", "energy", ""),
    ("lagrange_function L", "lagrangian", ""),
    ("routh routh_function", "routhian", ""),
    ("amended_potential V_eff U_eff", "effective_potential", ""),
    ("computeRNEADerivatives", "inverse_derivatives", ""),
    ("ComputeRNEASecondOrderDerivatives", "inverse_second_derivatives", ""),
    ("computeABADerivatives mjd_transitionFD", "forward_derivatives", ""),
    ("computeJointTorqueRegressor", "regressor", ""),
    ("lambda efc_force lagrange_multipliers", "multipliers", ""),
    ("efc_J constraint_matrix", "constraint_jacobian", ""),
    ("acceleration_energy gibbs gibbs_function gibbs_appell", "appell_function", ""),
    ("compulsion zwang gauss_function", "gauss_constraint", ""),
    ("M H", "mass_matrix", ""),
    ("J", "jacobian", ""),
    ("A", "constraint_jacobian", ""),
    ("h b", "bias", ""),
    # Formalisms.
    ("rnea newton newtoneuler featherstone aba", "newton_euler", ""),
    ("kanes_method KanesMethod", "kane", ""),
    ("LagrangesMethod euler_lagrange lagrangian", "lagrange", ""),
    ("gibbs gibbs_appell GibbsAppell", "appell", ""),
    ("lagrange_multipliers lambda udwadia", "multipliers", ""),
    # Methods of integration.
    ("ode45 dopri dormand_prince runge_kutta tsit5 rk4 euler", "dopri5", ""),
    ("dopri8 vern8 ode78 ode89 ode113", "dop853", ""),
    ("radau_iia ode15s ode23t ode23s implicit stiff", "Radau", ""),
    ("sundials", "CVODE", ""),
    # Arguments.
    ("q0 x0 y0 qpos qpos0 q_init initial initial_state initial_conditions ic state0 positions", "q", ""),
    ("v0 u0 qd0 qdot0 dq dq0 qvel qd qdot velocities speeds", "v", ""),
    ("q q0 x0 xeq operating_point op_point point equilibrium v", "about", ""),
    ("t_span tspan tf t_end tend t_final duration T tmax time stop_time", "t", ""),
    ("times t_eval teval time ts tout timesteps", "t_eval", ""),
    ("times t_eval teval time ts tout timesteps", "t", ""),
    (
        "dt timestep time_step step_size h fixed_step",
        "samples",
        "of the record; rtol and atol choose the steps, max_step bounds them",
    ),
    ("dt timestep time_step", "rate", "1/dt"),
    ("dt timestep time_step step_size", "t", "the times themselves"),
    ("n num npoints n_points steps nsteps n_samples", "samples", ""),
    ("params parameters args p0 constants theta", "p", ""),
    ("torque torques force forces u control controls ctrl input actuation input_func qfrc_applied tau_fun", "tau", ""),
    ("integrator solver algorithm", "method", ""),
    ("tol tolerance reltol rel_tol", "rtol", ""),
    ("abstol abs_tol", "atol", ""),
    ("running running_cost stage_cost lagrange cost integrand", "integral", ""),
    ("terminal terminal_cost final_cost mayer", "final", ""),
    ("by parameters params wrt variables x", "by", ""),
    ("x state guess", "about", "the values of coordinates and speeds by name"),
    ("x state guess", "q", "and v for speeds"),
    ("on motors inputs actuator joints", "actuators", ""),
    ("inputs u", "inputs", ""),
    ("formulation principle by method", "formalism", ""),
    ("dense", "dense_output", ""),
    ("event callbacks", "events", ""),
    ("actuators unknowns", "unknown", ""),
    ("trajectory path q", "motion", ""),
    ("target goal goals task", "wanted", ""),
    ("w omega freq frequencies", "frequency", ""),
    ("filename file fname", "path", ""),
    ("floating_base free_flyer root_joint", "floating", ""),
    ("m", "mass", ""),
    ("moments inertia I tensor", "moments", ""),
    ("parent reference", "base", ""),
    ("joints joint", "motions", ""),
    ("stiffness k", "stiffness", ""),
    ("damping c", "damping", ""),
    # Functions of expressions.
    ("arcsin", "asin", ""),
    ("arccos", "acos", ""),
    ("arctan", "atan", ""),
    ("arctan2", "atan2", ""),
    ("ln log10", "log", ""),
    ("spline splines", "cubic", ""),
    ("where piecewise ifelse iif cond select", "if", "if(x > 0, a, b) is a where x > 0, and else b"),
    ("heaviside", "step", "which is 0 below zero and 1 above: f*step(x)"),
    ("dot diff ddt der derivative", "q'", "the rate of the coordinate q"),
    ("clip clamp saturate", "min", "with max: min(b, max(a, x)) is x between a and b"),
    ("fmod remainder rem", "mod", "mod(x, y) has the sign of y"),
    ("wrap", "atan2", "atan2(sin(x), cos(x)) is the angle x from -pi to pi"),
    ("round trunc int", "floor", "floor(x + 1/2) is the nearest whole number"),
    ("ceiling", "ceil", "the next whole number above"),
    ("sgn signum", "sign", ""),
    ("fabs", "abs", ""),
    ("max fmax", "maximum", ""),
    ("min fmin", "minimum", ""),
    ("maximum fmax", "max", ""),
    ("minimum fmin", "min", ""),
    # Public functions, and verbs of the command line.
    ("solve_ivp odeint run forward_dynamics simulation integrate step_response", "simulate", ""),
    ("KanesMethod LagrangesMethod equations eom equations_of_motion", "derive", ""),
    ("rnea inverse_dynamics id", "inverse", ""),
    ("ik", "inverse_kinematics", ""),
    ("ik inverse_kinematics", "place", ""),
    ("fk forward_kinematics", "kinematics", ""),
    ("eig eigenvalues eigenfrequencies vibration", "modes", ""),
    ("bode frequency_response step_info impulse", "response", ""),
    ("find_op trim trimming steady_state", "equilibrium", ""),
    ("ss StateSpace linearise linearization", "linearize", ""),
    ("loadModel buildModelFromUrdf from_xml_path load_model read parse AddModels", "load", ""),
    ("from_xml_string", "loads", ""),
    ("dynamicsymbols Symbol var", "symbol", ""),
    ("eval evaluate", "eval", ""),
)  # fmt: skip


def folded(word: str) -> str:
    """*word* without capitals, underscores and hyphens; single letters keep their case."""
    plain = re.sub(r"[\W_]", "", word)
    return plain if len(plain) == 1 else plain.casefold()


_MEANINGS: dict[str, list[tuple[str, str]]] = {}
for _words, _name, _remark in _ROWS:
    for _word in map(folded, _words.split()):
        _MEANINGS.setdefault(_word, []).append((_name, _remark))


def meaning(word: str, known: Collection[str]) -> tuple[str, str] | None:
    """The name among *known* for the synonym *word*, with a remark or ``""``; None without one."""
    return next((row for row in _MEANINGS.get(folded(word), ()) if row[0] in known and row[0] != word), None)
