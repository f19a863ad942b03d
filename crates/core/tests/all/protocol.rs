//! Every scene of the repository goes out under the names of schema 1 and comes back the same, bit for bit.

use std::{fs, path::Path};

use taut_core::{
    Scene,
    load::load_file,
    protocol::{SceneForm, WORDS, words_of},
};

#[test]
fn every_scene_comes_back_equal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ron") {
            continue;
        }
        let scene = load_file(&path, &[]).unwrap().scene;
        let text = serde_json::to_string(&SceneForm::from(&scene)).unwrap();
        let form: SceneForm = serde_json::from_str(&text).unwrap();
        assert_eq!(Scene::try_from(form).unwrap(), scene, "{}", path.display());
        assert!(words_of(&scene).iter().all(|need| WORDS.contains(&need.word)));
        seen += 1;
    }
    assert!(seen > 50, "{seen} scenes");
}

#[test]
fn a_mesh_that_forces_move_is_asked_for_by_a_word() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let asked = |name: &str| {
        let scene = load_file(&folder.join(name), &[]).unwrap().scene;
        words_of(&scene).into_iter().find(|need| need.word == "body.mesh")
    };
    assert_eq!(asked("bolt.ron").expect("a screw").witness, "body 1");
    assert_eq!(asked("shapes.ron"), None);
}

#[test]
fn another_schema_and_unknown_keys_are_refused() {
    let text = serde_json::to_string(&SceneForm::from(&Scene::default())).unwrap();
    let other: SceneForm =
        serde_json::from_str(&text.replace("\"schema\":1", "\"schema\":7")).unwrap();
    let said = Scene::try_from(other).unwrap_err();
    assert_eq!(said, "a scene of schema 7, but this program reads 1");
    let unknown = text.replace("\"gravity\"", "\"ether\":1,\"gravity\"");
    assert!(serde_json::from_str::<SceneForm>(&unknown).is_err());
}
